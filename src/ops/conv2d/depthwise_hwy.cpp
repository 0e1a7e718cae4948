// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time. Vectors run over
// channels, and sums of several pixels or taps stay in registers.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv2d/depthwise_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backend/cpu/elements_hwy.h"
#include "ops/conv2d/depthwise_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

using DepthwiseVector = hn::Vec<hn::ScalableTag<float>>;

/// Pixels of a run whose sums are in registers at once: they hide the latency of two units.
constexpr int kPixels = 8;
/// Pixels that a tap's sum takes before it goes back to memory.
constexpr std::int64_t kPixelsOfSum = 16;
/// Taps whose sums are in registers at once.
constexpr int kTaps = 8;

template <int kOutputs>
HWY_INLINE void run_sums(const DepthwiseTap* taps, const DepthwiseTap* end, const float* x,
                         std::int64_t x_step, const float* w, std::int64_t channels, float* y,
                         std::int64_t y_step) {
  for_row_vectors(1, channels, [=](auto at, std::int64_t /*row*/, std::int64_t c) HWY_ATTR {
    DepthwiseVector sums[kOutputs];
    for (auto& sum : sums) sum = hn::Zero(at.d);
    const float* source = x + c;
    const float* weights = w + c;
    for (const DepthwiseTap* tap = taps; tap != end; ++tap) {
      const DepthwiseVector weight = at.load(weights + tap->weight);
      const float* from = source + tap->from;
      for (auto& sum : sums) {
        sum = hn::MulAdd(weight, at.load(from), sum);
        from += x_step;
      }
    }
    float* to = y + c;
    for (const auto& sum : sums) {
      at.store(sum, to);
      to += y_step;
    }
  });
}

void DepthwiseSums(const DepthwiseTap* taps, std::int64_t count, const float* x,
                   std::int64_t x_step, const float* w, std::int64_t channels, std::int64_t outputs,
                   float* y, std::int64_t y_step) {
  std::int64_t i = 0;
  const auto next = [&]<int kOutputs>() HWY_ATTR {
    for (; i + kOutputs <= outputs; i += kOutputs) {
      run_sums<kOutputs>(taps, taps + count, x + i * x_step, x_step, w, channels, y + i * y_step,
                         y_step);
    }
  };
  next.template operator()<kPixels>();
  next.template operator()<kPixels / 2>();
  next.template operator()<1>();
}

template <int kCount>
HWY_INLINE void tap_sums(const float* x, std::int64_t x_step, std::int64_t x_tap, const float* dz,
                         std::int64_t channels, std::int64_t outputs, float* sums) {
  for (std::int64_t i = 0; i < outputs; i += kPixelsOfSum) {
    const std::int64_t end = std::min(i + kPixelsOfSum, outputs);
    for_row_vectors(1, channels, [=](auto at, std::int64_t /*row*/, std::int64_t c) HWY_ATTR {
      DepthwiseVector of_taps[kCount];
      for (int t = 0; t < kCount; ++t) of_taps[t] = at.load(sums + t * channels + c);
      for (std::int64_t pixel = i; pixel < end; ++pixel) {
        const DepthwiseVector slope = at.load(dz + pixel * channels + c);
        const float* from = x + pixel * x_step + c;
        for (int t = 0; t < kCount; ++t) {
          of_taps[t] = hn::MulAdd(slope, at.load(from + t * x_tap), of_taps[t]);
        }
      }
      for (int t = 0; t < kCount; ++t) at.store(of_taps[t], sums + t * channels + c);
    });
  }
}

void DepthwiseWeightSums(const float* x, std::int64_t x_step, std::int64_t x_tap, std::int64_t taps,
                         const float* dz, std::int64_t channels, std::int64_t outputs,
                         float* sums) {
  for (std::int64_t t = 0; t < taps; t += kTaps) {
    const auto some = [&]<int kCount>() HWY_ATTR {
      tap_sums<kCount>(x + t * x_tap, x_step, x_tap, dz, channels, outputs, sums + t * channels);
    };
    switch (std::min<std::int64_t>(taps - t, kTaps)) {
      case 1: some.template operator()<1>(); break;
      case 2: some.template operator()<2>(); break;
      case 3: some.template operator()<3>(); break;
      case 4: some.template operator()<4>(); break;
      case 5: some.template operator()<5>(); break;
      case 6: some.template operator()<6>(); break;
      case 7: some.template operator()<7>(); break;
      default: some.template operator()<kTaps>(); break;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(DepthwiseSums);
HWY_EXPORT(DepthwiseWeightSums);

void depthwise_sums(const DepthwiseTap* taps, std::int64_t count, const float* x,
                    std::int64_t x_step, const float* w, std::int64_t channels,
                    std::int64_t outputs, float* y, std::int64_t y_step) {
  HWY_DYNAMIC_DISPATCH(DepthwiseSums)(taps, count, x, x_step, w, channels, outputs, y, y_step);
}

void depthwise_weight_sums(const float* x, std::int64_t x_step, std::int64_t x_tap,
                           std::int64_t taps, const float* dz, std::int64_t channels,
                           std::int64_t outputs, float* sums) {
  HWY_DYNAMIC_DISPATCH(DepthwiseWeightSums)(x, x_step, x_tap, taps, dz, channels, outputs, sums);
}

}  // namespace linnet::cpu
#endif
