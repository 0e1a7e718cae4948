// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time. (Points are
// arrays of vectors, which sizeless ones can't be.)
#include <hwy/detect_targets.h>
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv2d/winograd_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "ops/conv2d/winograd_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<float> kFloats;
using V = hn::Vec<decltype(kFloats)>;

/// Calls f(c) for vectors of channels; the last one may overlap the one before.
template <class F>
HWY_INLINE void for_channels(std::int64_t channels, F f) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kFloats));
  for (std::int64_t c = 0; c < channels; c += lanes) f(std::min(c, channels - lanes));
}

HWY_INLINE V load(const float* from) { return hn::LoadU(kFloats, from); }
HWY_INLINE void store(V v, float* to) { hn::StoreU(v, kFloats, to); }

// One side of each transform: from x, `step` vectors apart, to y likewise.

HWY_INLINE void input_side(const V* x, V* y, int step) {
  y[0] = hn::Sub(x[0], x[2 * step]);
  y[step] = hn::Add(x[step], x[2 * step]);
  y[2 * step] = hn::Sub(x[2 * step], x[step]);
  y[3 * step] = hn::Sub(x[step], x[3 * step]);
}

/// x: 4, `step` apart; y: 2, `to` apart.
HWY_INLINE void output_side(const V* x, int step, V* y, int to) {
  y[0] = hn::Add(hn::Add(x[0], x[step]), x[2 * step]);
  y[to] = hn::Sub(hn::Sub(x[step], x[2 * step]), x[3 * step]);
}

/// x: 2, `step` apart; y: 4, `to` apart.
HWY_INLINE void output_transposed_side(const V* x, int step, V* y, int to) {
  y[0] = x[0];
  y[to] = hn::Add(x[0], x[step]);
  y[2 * to] = hn::Sub(x[0], x[step]);
  y[3 * to] = hn::Neg(x[step]);
}

/// x: 3, `step` apart; y: 4, `to` apart.
HWY_INLINE void weights_side(const V* x, int step, V* y, int to) {
  const V half = hn::Set(kFloats, 0.5F);
  const V outer = hn::Mul(half, hn::Add(x[0], x[2 * step]));
  const V middle = hn::Mul(half, x[step]);
  y[0] = x[0];
  y[to] = hn::Add(outer, middle);
  y[2 * to] = hn::Sub(outer, middle);
  y[3 * to] = x[2 * step];
}

/// x: 4, `step` apart; y: 3, `to` apart.
HWY_INLINE void weights_transposed_side(const V* x, int step, V* y, int to) {
  const V half = hn::Set(kFloats, 0.5F);
  const V sum = hn::Mul(half, hn::Add(x[step], x[2 * step]));
  y[0] = hn::Add(x[0], sum);
  y[to] = hn::Mul(half, hn::Sub(x[step], x[2 * step]));
  y[2 * to] = hn::Add(x[3 * step], sum);
}

void Input(const float* const* d, std::int64_t channels, float* out, std::int64_t stride) {
  for_channels(channels, [&](std::int64_t c) HWY_ATTR {
    V x[16];
    V y[16];
    for (int i = 0; i < 16; ++i) x[i] = load(d[i] + c);
    for (int i = 0; i < 4; ++i) input_side(x + i, y + i, 4);
    for (int i = 0; i < 4; ++i) input_side(y + 4 * i, x + 4 * i, 1);
    for (int i = 0; i < 16; ++i) store(x[i], out + i * stride + c);
  });
}

void Output(const float* m, std::int64_t stride, std::int64_t channels, float* const* y) {
  for_channels(channels, [&](std::int64_t c) HWY_ATTR {
    V x[16];
    V rows[8];
    V out[4];
    for (int i = 0; i < 16; ++i) x[i] = load(m + i * stride + c);
    for (int i = 0; i < 4; ++i) output_side(x + i, 4, rows + i, 4);
    for (int i = 0; i < 2; ++i) output_side(rows + 4 * i, 1, out + 2 * i, 1);
    for (int i = 0; i < 4; ++i) {
      if (y[i] != nullptr) store(out[i], y[i] + c);
    }
  });
}

void OutputTransposed(const float* const* dy, std::int64_t channels, float* out,
                      std::int64_t stride) {
  for_channels(channels, [&](std::int64_t c) HWY_ATTR {
    V x[4];
    V rows[8];
    V y[16];
    for (int i = 0; i < 4; ++i) x[i] = load(dy[i] + c);
    for (int i = 0; i < 2; ++i) output_transposed_side(x + i, 2, rows + i, 2);
    for (int i = 0; i < 4; ++i) output_transposed_side(rows + 2 * i, 1, y + 4 * i, 1);
    for (int i = 0; i < 16; ++i) store(y[i], out + i * stride + c);
  });
}

void Weights(const float* const* g, std::int64_t channels, float* out, std::int64_t stride) {
  for_channels(channels, [&](std::int64_t c) HWY_ATTR {
    V x[9];
    V rows[12];
    V y[16];
    for (int i = 0; i < 9; ++i) x[i] = load(g[i] + c);
    for (int i = 0; i < 3; ++i) weights_side(x + i, 3, rows + i, 3);
    for (int i = 0; i < 4; ++i) weights_side(rows + 3 * i, 1, y + 4 * i, 1);
    for (int i = 0; i < 16; ++i) store(y[i], out + i * stride + c);
  });
}

void WeightsTransposed(const float* u, std::int64_t stride, std::int64_t channels,
                       float* const* dg) {
  for_channels(channels, [&](std::int64_t c) HWY_ATTR {
    V x[16];
    V rows[12];
    V y[9];
    for (int i = 0; i < 16; ++i) x[i] = load(u + i * stride + c);
    for (int i = 0; i < 4; ++i) weights_transposed_side(x + i, 4, rows + i, 4);
    for (int i = 0; i < 3; ++i) weights_transposed_side(rows + 4 * i, 1, y + 3 * i, 1);
    for (int i = 0; i < 9; ++i) store(y[i], dg[i] + c);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(Input);
HWY_EXPORT(Output);
HWY_EXPORT(OutputTransposed);
HWY_EXPORT(Weights);
HWY_EXPORT(WeightsTransposed);

void winograd_input(const float* const* d, std::int64_t channels, float* out, std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(Input)(d, channels, out, stride);
}

void winograd_output(const float* m, std::int64_t stride, std::int64_t channels, float* const* y) {
  HWY_DYNAMIC_DISPATCH(Output)(m, stride, channels, y);
}

void winograd_output_transposed(const float* const* dy, std::int64_t channels, float* out,
                                std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(OutputTransposed)(dy, channels, out, stride);
}

void winograd_weights(const float* const* g, std::int64_t channels, float* out,
                      std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(Weights)(g, channels, out, stride);
}

void winograd_weights_transposed(const float* u, std::int64_t stride, std::int64_t channels,
                                 float* const* dg) {
  HWY_DYNAMIC_DISPATCH(WeightsTransposed)(u, stride, channels, dg);
}

}  // namespace linnet::cpu
#endif
