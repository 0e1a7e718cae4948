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

// One side of each transform: from kIn values of x, `step` vectors apart, to kOut of y, `to` apart.

struct InputSide {
  static constexpr int kIn = 4;
  static constexpr int kOut = 4;
  HWY_INLINE void operator()(const V* x, int step, V* y, int to) const {
    y[0] = hn::Sub(x[0], x[2 * step]);
    y[to] = hn::Add(x[step], x[2 * step]);
    y[2 * to] = hn::Sub(x[2 * step], x[step]);
    y[3 * to] = hn::Sub(x[step], x[3 * step]);
  }
};

struct OutputSide {
  static constexpr int kIn = 4;
  static constexpr int kOut = 2;
  HWY_INLINE void operator()(const V* x, int step, V* y, int to) const {
    y[0] = hn::Add(hn::Add(x[0], x[step]), x[2 * step]);
    y[to] = hn::Sub(hn::Sub(x[step], x[2 * step]), x[3 * step]);
  }
};

struct OutputTransposedSide {
  static constexpr int kIn = 2;
  static constexpr int kOut = 4;
  HWY_INLINE void operator()(const V* x, int step, V* y, int to) const {
    y[0] = x[0];
    y[to] = hn::Add(x[0], x[step]);
    y[2 * to] = hn::Sub(x[0], x[step]);
    y[3 * to] = hn::Neg(x[step]);
  }
};

struct WeightsSide {
  static constexpr int kIn = 3;
  static constexpr int kOut = 4;
  HWY_INLINE void operator()(const V* x, int step, V* y, int to) const {
    const V half = hn::Set(kFloats, 0.5F);
    const V outer = hn::Mul(half, hn::Add(x[0], x[2 * step]));
    const V middle = hn::Mul(half, x[step]);
    y[0] = x[0];
    y[to] = hn::Add(outer, middle);
    y[2 * to] = hn::Sub(outer, middle);
    y[3 * to] = x[2 * step];
  }
};

struct WeightsTransposedSide {
  static constexpr int kIn = 4;
  static constexpr int kOut = 3;
  HWY_INLINE void operator()(const V* x, int step, V* y, int to) const {
    const V half = hn::Set(kFloats, 0.5F);
    const V sum = hn::Mul(half, hn::Add(x[step], x[2 * step]));
    y[0] = hn::Add(x[0], sum);
    y[to] = hn::Mul(half, hn::Sub(x[step], x[2 * step]));
    y[2 * to] = hn::Add(x[3 * step], sum);
  }
};

/// y (kOut, kOut) = S x Sᵀ for x (kIn, kIn) and a side S; `read(i, c)` gives value i
/// of x at channels from c on, `write(y, i, c)` takes one of y.
template <class Side, class Read, class Write>
HWY_INLINE void transform(std::int64_t channels, Side side, Read read, Write write) {
  constexpr int kIn = Side::kIn;
  constexpr int kOut = Side::kOut;
  for_channels(channels, [&](std::int64_t c) HWY_ATTR {
    V x[kIn * kIn];
    V rows[kOut * kIn];
    V y[kOut * kOut];
    for (int i = 0; i < kIn * kIn; ++i) x[i] = read(i, c);
    for (int i = 0; i < kIn; ++i) side(x + i, kIn, rows + i, kIn);
    for (int i = 0; i < kOut; ++i) side(rows + kIn * i, 1, y + kOut * i, 1);
    for (int i = 0; i < kOut * kOut; ++i) write(y[i], i, c);
  });
}

void Input(const float* const* d, std::int64_t channels, float* out, std::int64_t stride) {
  transform(
      channels, InputSide(), [=](int i, std::int64_t c) HWY_ATTR { return load(d[i] + c); },
      [=](V v, int i, std::int64_t c) HWY_ATTR { store(v, out + i * stride + c); });
}

void Output(const float* m, std::int64_t stride, std::int64_t channels, float* const* y) {
  transform(
      channels, OutputSide(),
      [=](int i, std::int64_t c) HWY_ATTR { return load(m + i * stride + c); },
      [=](V v, int i, std::int64_t c) HWY_ATTR {
        if (y[i] != nullptr) store(v, y[i] + c);
      });
}

void OutputTransposed(const float* const* dy, std::int64_t channels, float* out,
                      std::int64_t stride) {
  transform(
      channels, OutputTransposedSide(),
      [=](int i, std::int64_t c) HWY_ATTR { return load(dy[i] + c); },
      [=](V v, int i, std::int64_t c) HWY_ATTR { store(v, out + i * stride + c); });
}

void Weights(const float* const* g, std::int64_t channels, float* out, std::int64_t stride) {
  transform(
      channels, WeightsSide(), [=](int i, std::int64_t c) HWY_ATTR { return load(g[i] + c); },
      [=](V v, int i, std::int64_t c) HWY_ATTR { store(v, out + i * stride + c); });
}

void WeightsTransposed(const float* u, std::int64_t stride, std::int64_t channels,
                       float* const* dg) {
  transform(
      channels, WeightsTransposedSide(),
      [=](int i, std::int64_t c) HWY_ATTR { return load(u + i * stride + c); },
      [=](V v, int i, std::int64_t c) HWY_ATTR { store(v, dg[i] + c); });
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
