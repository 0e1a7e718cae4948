// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv2d/winograd_hwy.cpp"
#include <hwy/cache_control.h>
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

// The points of larger tiles are 0, the roots of 1/2 and of 2, their negatives, and infinity: with
// 1 and 2 instead, errors are four times as large.
constexpr float kNear = 0.707106781F;
constexpr float kFar = 1.41421356F;

// One side of each transform: from kIn values of x, `step` vectors apart, to kOut of y, `to` apart.

HWY_INLINE V set(float x) { return hn::Set(kFloats, x); }

template <int kSide>
struct InputSide {
  static constexpr int kIn = 6;
  static constexpr int kOut = 6;
  HWY_INLINE void operator()(const V* x, int step, V* y, int to) const {
    const V whole = set(2.5F);
    const V even = hn::NegMulAdd(set(2), x[2 * step], x[4 * step]);
    const V odd = hn::NegMulAdd(set(2), x[step], x[3 * step]);
    const V next_even = hn::NegMulAdd(set(0.5F), x[2 * step], x[4 * step]);
    const V next_odd = hn::NegMulAdd(set(0.5F), x[step], x[3 * step]);
    y[0] = hn::NegMulAdd(whole, x[2 * step], hn::Add(x[0], x[4 * step]));
    y[to] = hn::MulAdd(set(kNear), odd, even);
    y[2 * to] = hn::NegMulAdd(set(kNear), odd, even);
    y[3 * to] = hn::MulAdd(set(kFar), next_odd, next_even);
    y[4 * to] = hn::NegMulAdd(set(kFar), next_odd, next_even);
    y[5 * to] = hn::NegMulAdd(whole, x[3 * step], hn::Add(x[step], x[5 * step]));
  }
};

template <>
struct InputSide<2> {
  static constexpr int kIn = 4;
  static constexpr int kOut = 4;
  HWY_INLINE void operator()(const V* x, int step, V* y, int to) const {
    y[0] = hn::Sub(x[0], x[2 * step]);
    y[to] = hn::Add(x[step], x[2 * step]);
    y[2 * to] = hn::Sub(x[2 * step], x[step]);
    y[3 * to] = hn::Sub(x[step], x[3 * step]);
  }
};

template <int kSide>
struct OutputSide {
  static constexpr int kIn = 6;
  static constexpr int kOut = 4;
  HWY_INLINE void operator()(const V* x, int step, V* y, int to) const {
    const V sum = hn::Add(x[step], x[2 * step]);
    const V difference = hn::Sub(x[step], x[2 * step]);
    const V next_sum = hn::Add(x[3 * step], x[4 * step]);
    const V next_difference = hn::Sub(x[3 * step], x[4 * step]);
    y[0] = hn::Add(hn::Add(x[0], sum), next_sum);
    y[to] = hn::MulAdd(set(kFar), next_difference, hn::Mul(set(kNear), difference));
    y[2 * to] = hn::MulAdd(set(2), next_sum, hn::Mul(set(0.5F), sum));
    y[3 * to] = hn::MulAdd(set(2 * kFar), next_difference,
                           hn::MulAdd(set(kNear / 2), difference, x[5 * step]));
  }
};

template <>
struct OutputSide<2> {
  static constexpr int kIn = 4;
  static constexpr int kOut = 2;
  HWY_INLINE void operator()(const V* x, int step, V* y, int to) const {
    y[0] = hn::Add(hn::Add(x[0], x[step]), x[2 * step]);
    y[to] = hn::Sub(hn::Sub(x[step], x[2 * step]), x[3 * step]);
  }
};

template <int kSide>
struct OutputTransposedSide {
  static constexpr int kIn = 4;
  static constexpr int kOut = 6;
  HWY_INLINE void operator()(const V* x, int step, V* y, int to) const {
    const V even = hn::MulAdd(set(0.5F), x[2 * step], x[0]);
    const V odd = hn::MulAdd(set(0.5F), x[3 * step], x[step]);
    const V next_even = hn::MulAdd(set(2), x[2 * step], x[0]);
    const V next_odd = hn::MulAdd(set(2), x[3 * step], x[step]);
    y[0] = x[0];
    y[to] = hn::MulAdd(set(kNear), odd, even);
    y[2 * to] = hn::NegMulAdd(set(kNear), odd, even);
    y[3 * to] = hn::MulAdd(set(kFar), next_odd, next_even);
    y[4 * to] = hn::NegMulAdd(set(kFar), next_odd, next_even);
    y[5 * to] = x[3 * step];
  }
};

template <>
struct OutputTransposedSide<2> {
  static constexpr int kIn = 2;
  static constexpr int kOut = 4;
  HWY_INLINE void operator()(const V* x, int step, V* y, int to) const {
    y[0] = x[0];
    y[to] = hn::Add(x[0], x[step]);
    y[2 * to] = hn::Sub(x[0], x[step]);
    y[3 * to] = hn::Neg(x[step]);
  }
};

template <int kSide>
struct WeightsSide {
  static constexpr int kIn = 3;
  static constexpr int kOut = 6;
  HWY_INLINE void operator()(const V* x, int step, V* y, int to) const {
    const V third = hn::Mul(set(1.0F / 3), x[2 * step]);
    const V outer = hn::MulAdd(set(2.0F / 3), x[0], third);
    const V next_outer = hn::MulAdd(set(1.0F / 6), x[0], third);
    y[0] = x[0];
    y[to] = hn::NegMulSub(set(2 * kNear / 3), x[step], outer);
    y[2 * to] = hn::MulSub(set(2 * kNear / 3), x[step], outer);
    y[3 * to] = hn::MulAdd(set(kFar / 6), x[step], next_outer);
    y[4 * to] = hn::NegMulAdd(set(kFar / 6), x[step], next_outer);
    y[5 * to] = x[2 * step];
  }
};

template <>
struct WeightsSide<2> {
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

template <int kSide>
struct WeightsTransposedSide {
  static constexpr int kIn = 6;
  static constexpr int kOut = 3;
  HWY_INLINE void operator()(const V* x, int step, V* y, int to) const {
    const V sum = hn::Add(x[step], x[2 * step]);
    const V difference = hn::Sub(x[2 * step], x[step]);
    const V next_sum = hn::Add(x[3 * step], x[4 * step]);
    const V next_difference = hn::Sub(x[3 * step], x[4 * step]);
    y[0] = hn::MulAdd(set(1.0F / 6), next_sum, hn::NegMulAdd(set(2.0F / 3), sum, x[0]));
    y[to] = hn::MulAdd(set(kFar / 6), next_difference, hn::Mul(set(2 * kNear / 3), difference));
    y[2 * to] = hn::MulAdd(set(1.0F / 3), hn::Sub(next_sum, sum), x[5 * step]);
  }
};

template <>
struct WeightsTransposedSide<2> {
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
    V rows[kOut * kIn];
    HWY_UNROLL(8)
    for (int i = 0; i < kIn; ++i) {
      V column[kIn];
      for (int j = 0; j < kIn; ++j) column[j] = read(j * kIn + i, c);
      side(column, 1, rows + i, kIn);
    }
    HWY_UNROLL(8)
    for (int i = 0; i < kOut; ++i) {
      V y[kOut];
      side(rows + kIn * i, 1, y, 1);
      for (int j = 0; j < kOut; ++j) write(y[j], i * kOut + j, c);
    }
  });
}

template <int kSide>
void input(const float* const* d, const float* const* next, std::int64_t channels, float* out,
           std::int64_t stride) {
  transform(
      channels, InputSide<kSide>(),
      [=](int i, std::int64_t c) HWY_ATTR {
        hwy::Prefetch(next[i] + c);
        return load(d[i] + c);
      },
      [=](V v, int i, std::int64_t c) HWY_ATTR { store(v, out + i * stride + c); });
}

template <int kSide>
void output(const float* m, std::int64_t stride, std::int64_t channels, const WinogradTail& tail,
            float* const* y, float* const* next) {
  transform(
      channels, OutputSide<kSide>(),
      [=](int i, std::int64_t c) HWY_ATTR { return load(m + i * stride + c); },
      [=](V v, int i, std::int64_t c) HWY_ATTR {
        hwy::Prefetch(next[i] + c);
        if (y[i] == nullptr) return;
        if (tail.bias != nullptr) v = hn::Add(v, load(tail.bias + c));
        if (tail.relu) v = hn::IfThenZeroElse(hn::Lt(v, hn::Zero(kFloats)), v);
        store(v, y[i] + c);
      });
}

template <int kSide>
void output_transposed(const float* const* dy, std::int64_t channels, float* out,
                       std::int64_t stride) {
  transform(
      channels, OutputTransposedSide<kSide>(),
      [=](int i, std::int64_t c) HWY_ATTR { return load(dy[i] + c); },
      [=](V v, int i, std::int64_t c) HWY_ATTR { store(v, out + i * stride + c); });
}

template <int kSide>
void weights(const float* const* g, std::int64_t channels, float* out, std::int64_t stride) {
  transform(
      channels, WeightsSide<kSide>(),
      [=](int i, std::int64_t c) HWY_ATTR { return load(g[i] + c); },
      [=](V v, int i, std::int64_t c) HWY_ATTR { store(v, out + i * stride + c); });
}

template <int kSide>
void weights_transposed(const float* u, std::int64_t stride, std::int64_t channels,
                        float* const* dg) {
  transform(
      channels, WeightsTransposedSide<kSide>(),
      [=](int i, std::int64_t c) HWY_ATTR { return load(u + i * stride + c); },
      [=](V v, int i, std::int64_t c) HWY_ATTR { store(v, dg[i] + c); });
}

void Input(std::int64_t side, const float* const* d, const float* const* next,
           std::int64_t channels, float* out, std::int64_t stride) {
  (side == 4 ? input<4> : input<2>)(d, next, channels, out, stride);
}

void Output(std::int64_t side, const float* m, std::int64_t stride, std::int64_t channels,
            const WinogradTail& tail, float* const* y, float* const* next) {
  (side == 4 ? output<4> : output<2>)(m, stride, channels, tail, y, next);
}

void OutputTransposed(std::int64_t side, const float* const* dy, std::int64_t channels, float* out,
                      std::int64_t stride) {
  (side == 4 ? output_transposed<4> : output_transposed<2>)(dy, channels, out, stride);
}

void Weights(std::int64_t side, const float* const* g, std::int64_t channels, float* out,
             std::int64_t stride) {
  (side == 4 ? weights<4> : weights<2>)(g, channels, out, stride);
}

void WeightsTransposed(std::int64_t side, const float* u, std::int64_t stride,
                       std::int64_t channels, float* const* dg) {
  (side == 4 ? weights_transposed<4> : weights_transposed<2>)(u, stride, channels, dg);
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

void winograd_input(std::int64_t side, const float* const* d, const float* const* next,
                    std::int64_t channels, float* out, std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(Input)(side, d, next, channels, out, stride);
}

void winograd_output(std::int64_t side, const float* m, std::int64_t stride, std::int64_t channels,
                     const WinogradTail& tail, float* const* y, float* const* next) {
  HWY_DYNAMIC_DISPATCH(Output)(side, m, stride, channels, tail, y, next);
}

void winograd_output_transposed(std::int64_t side, const float* const* dy, std::int64_t channels,
                                float* out, std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(OutputTransposed)(side, dy, channels, out, stride);
}

void winograd_weights(std::int64_t side, const float* const* g, std::int64_t channels, float* out,
                      std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(Weights)(side, g, channels, out, stride);
}

void winograd_weights_transposed(std::int64_t side, const float* u, std::int64_t stride,
                                 std::int64_t channels, float* const* dg) {
  HWY_DYNAMIC_DISPATCH(WeightsTransposed)(side, u, stride, channels, dg);
}

}  // namespace linnet::cpu
#endif
