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

/// Sums of a run that are in registers at once: they hide the latency of two units.
constexpr int kSums = 8;
/// Pixels that a tap's sum takes before it goes back to memory.
constexpr std::int64_t kPixelsOfSum = 16;
/// Taps whose sums are in registers at once.
constexpr int kTaps = 8;

/// Sums kOutputs pixels from `first` on and kVectors vectors of channels from c on.
template <int kOutputs, int kVectors, class At>
HWY_INLINE void block_sums(At at, const DepthwiseRun& run, const DepthwiseTail& tail,
                           std::int64_t first, std::int64_t c) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(at.d));
  DepthwiseVector sums[kVectors][kOutputs];
  for (int v = 0; v < kVectors; ++v) {
    const DepthwiseVector start =
        tail.start == nullptr ? hn::Zero(at.d) : at.load(tail.start + c + v * lanes);
    for (auto& sum : sums[v]) sum = start;
  }
  const float* source = run.x + first * run.x_step + c;
  const float* weights = run.w + c;
  for (const DepthwiseTap* tap = run.taps; tap != run.taps + run.count; ++tap) {
    for (int v = 0; v < kVectors; ++v) {
      const DepthwiseVector weight = at.load(weights + tap->weight + v * lanes);
      const float* from = source + tap->from + v * lanes;
      for (auto& sum : sums[v]) {
        sum = hn::MulAdd(weight, at.load(from), sum);
        from += run.x_step;
      }
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    float* to = run.y + first * run.y_step + c + v * lanes;
    for (const auto& sum : sums[v]) {
      const auto cut = hn::IfThenZeroElse(hn::Lt(sum, hn::Zero(at.d)), sum);  // NaN stays
      at.store(tail.relu ? cut : sum, to);
      to += run.y_step;
    }
  }
}

template <int kOutputs>
HWY_INLINE void channel_sums(const DepthwiseRun& run, const DepthwiseTail& tail,
                             std::int64_t first) {
  constexpr int kVectors = kSums / kOutputs;
  const std::int64_t width = kVectors * static_cast<std::int64_t>(hn::Lanes(Whole{}.d));
  std::int64_t c = 0;
  for (; c + width <= run.channels; c += width) {
    block_sums<kOutputs, kVectors>(Whole{}, run, tail, first, c);
  }
  for_row_vectors(1, run.channels - c, [&](auto at, std::int64_t /*row*/, std::int64_t i) HWY_ATTR {
    block_sums<kOutputs, 1>(at, run, tail, first, c + i);
  });
}

void DepthwiseSums(const DepthwiseRun& run, const DepthwiseTail& tail) {
  std::int64_t i = 0;
  for (; i + kSums <= run.outputs; i += kSums) channel_sums<kSums>(run, tail, i);
  const auto rest = [&]<int kOutputs>() HWY_ATTR {
    if (i + kOutputs > run.outputs) return;
    channel_sums<kOutputs>(run, tail, i);
    i += kOutputs;
  };
  rest.template operator()<4>();
  rest.template operator()<2>();
  rest.template operator()<1>();
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

void depthwise_sums(const DepthwiseRun& run, const DepthwiseTail& tail) {
  HWY_DYNAMIC_DISPATCH(DepthwiseSums)(run, tail);
}

void depthwise_weight_sums(const float* x, std::int64_t x_step, std::int64_t x_tap,
                           std::int64_t taps, const float* dz, std::int64_t channels,
                           std::int64_t outputs, float* sums) {
  HWY_DYNAMIC_DISPATCH(DepthwiseWeightSums)(x, x_step, x_tap, taps, dz, channels, outputs, sums);
}

}  // namespace linnet::cpu
#endif
