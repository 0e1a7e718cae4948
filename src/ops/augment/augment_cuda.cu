// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/augment/augment.h"
#include "ops/augment/formulas.h"
#include "ops/gather_batch/record_index.h"

namespace linnet::cuda {
namespace {

constexpr unsigned kLargestBlock = 2 * kBlock;

/// Blocks (x, y): a sample, and a part of its pixels. A thread goes through its pixels once for the
/// crop and once more a stage; the mean for the contrast wants all of a sample in one block.
template <class From>
__global__ void __launch_bounds__(kLargestBlock)
    augment_kernel(AugmentTask task, bool shuffle, const StepInfo* step,
                   const From* __restrict__ data, float* out) {
  __shared__ AugmentSample sample;
  __shared__ std::uint64_t record;
  const AugmentRule& rule = task.rule;
  const std::int64_t i = blockIdx.x;
  if (threadIdx.x == 0) {
    sample = draw_augment(rule, task.h, task.w, *step, shuffle, i);
    record = RecordIndex(*step, shuffle)(i);
  }
  __syncthreads();
  const std::int64_t channels = task.channels;
  const std::int64_t pixels = rule.height * rule.width;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.y) * blockDim.x;
  const AugmentPixels<float, From> from{data + static_cast<std::int64_t>(record) * task.h * task.w *
                                                   channels,
                                        task.h, task.w, channels, rule.reflect};
  float* image = out + i * pixels * channels;

  for (std::int64_t p = first; p < pixels; p += stride) {
    const std::int64_t y = p / rule.width;
    const std::int64_t x = p % rule.width;
    if (sample.turns) {
      const AugmentPoint<float> point(rule, sample, y, x);
      for (std::int64_t c = 0; c < channels; ++c) image[p * channels + c] = point.value(from, c);
      continue;
    }
    const AugmentPlace<float> row(sample.row(y, rule.height), rule.height, sample.height);
    const AugmentPlace<float> column(sample.column(x, rule.width), rule.width, sample.width);
    for (std::int64_t c = 0; c < channels; ++c) {
      image[p * channels + c] = augment_pixel(from, sample, row, column, c);
    }
  }
  for (int j = 0; j < kJitters; ++j) {
    const int stage = sample.order[j];
    if (!jitters(rule, stage)) continue;
    double mean = 0;
    if (stage == kContrast) {
      double sum = 0;
      for (std::int64_t p = first; p < pixels; p += stride) {
        sum += luminance(image + p * channels, channels);
      }
      mean = block_sum(sum) / static_cast<double>(pixels);
    }
    for (std::int64_t p = first; p < pixels; p += stride) {
      jitter_pixel(image + p * channels, channels, stage, sample.factor[stage],
                   static_cast<float>(mean), static_cast<float>(rule.top));
    }
  }
  for (std::int64_t p = first; p < pixels; p += stride) {
    const bool cut = sample.cuts(p / rule.width, p % rule.width);
    for (std::int64_t c = 0; c < channels; ++c) {
      float& y = image[p * channels + c];
      y = (cut ? static_cast<float>(rule.fill) : y) * task.scale[c] + task.shift[c];
    }
  }
}

template <class From>
Kernel augment(const NodeView& node) {
  using In = AugmentOp::In;
  using Out = AugmentOp::Out;
  const AugmentAttrs attrs = node.attrs<AugmentOp>();
  const AugmentTask task(attrs, node.in(In::data).sample());
  const std::int64_t pixels = attrs.rule.height * attrs.rule.width;
  return {.enqueue = [=](const Args& args) {
    const bool whole = jitters(attrs.rule, kContrast);
    const unsigned threads = whole && pixels > 4096 ? kLargestBlock : kBlock;
    const std::int64_t parts = whole ? 1 : (pixels + 4 * kBlock - 1) / (4 * kBlock);
    const LaunchShape shape{.grid =
                                dim3(static_cast<unsigned>(attrs.batch),
                                     static_cast<unsigned>(std::min<std::int64_t>(parts, 65535))),
                            .block = threads};
    launch(args.stream, "augment", shape, augment_kernel<From>, task, attrs.shuffle, args.step,
           args.in<From>(In::data), args.out(Out::y));
  }};
}

std::optional<Kernel> prepare_augment(const NodeView& node, const Context& /*context*/) {
  switch (node.inputs[AugmentOp::In::data].dtype) {
    case DType::u8: return augment<std::uint8_t>(node);
    case DType::f32: return augment<float>(node);
    default: return std::nullopt;
  }
}

}  // namespace

void register_augment(Registry& registry) { registry.add(AugmentOp::kName, prepare_augment); }

}  // namespace linnet::cuda
