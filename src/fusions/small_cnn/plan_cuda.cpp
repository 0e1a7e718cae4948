// SPDX-License-Identifier: Apache-2.0
#include "fusions/small_cnn/plan_cuda.h"

#include <algorithm>

namespace linnet::cuda {
namespace {

/// Shared memory, of the 48 KiB that every device has; the kernel declares a few bytes itself.
constexpr std::size_t kSharedBytes = (48 << 10) - 16;
constexpr std::int64_t kLargestImage = 32;

std::optional<SmallCnnShape> shape_of(const SmallCnnAttrs& attrs, const NodeView& node) {
  const Conv2dAttrs& a = attrs.conv_pool.conv;
  const ConvShape s = conv_shape(a, node.in(SmallCnnOp::In::samples).with_batch(attrs.gather.batch),
                                 node.in(SmallCnnOp::In::w), "");
  const std::int64_t classes = node.in(SmallCnnOp::In::c)[0];
  const std::int64_t pads = std::max({a.pad_top, a.pad_bottom, a.pad_left, a.pad_right});
  if (!attrs.conv_pool.is_plain() || s.h > kLargestImage || s.w > kLargestImage ||
      s.co > kCnnLargest || s.co % 4 != 0 || s.taps() > kCnnLargest || classes > kCnnLargest ||
      pads > kCnnLargest) {
    return std::nullopt;
  }
  const std::int64_t pitch = (s.w + a.pad_left + a.pad_right) * s.c;
  SmallCnnShape shape{pooled_conv(s, a.activation, pitch)};
  shape.n = s.n;
  shape.classes = static_cast<int>(classes);
  shape.padded_classes = classes == 10 ? 10 : kCnnLargest;
  shape.scale = static_cast<float>(attrs.gather.scale);
  shape.shift = static_cast<float>(attrs.gather.shift);
  shape.slope = s.n > 0 ? 1.0F / static_cast<float>(s.n) : 0.0F;
  shape.bytes = node.inputs[SmallCnnOp::In::samples].dtype == DType::u8;
  shape.shuffle = attrs.gather.shuffle;
  shape.probabilities = attrs.probabilities;
  shape.gradients = std::any_of(node.output_read.begin() + SmallCnnOp::Out::dw,
                                node.output_read.end(), [](bool read) { return read; });
  if (shape.features() == 0 || SmallCnnLayout(shape).bytes() > kSharedBytes) return std::nullopt;
  return shape;
}

}  // namespace

std::optional<SmallCnnPlan> plan_small_cnn(const NodeView& node) {
  const std::optional<SmallCnnShape> taken = shape_of(node.attrs<SmallCnnOp>(), node);
  if (!taken) return std::nullopt;
  const SmallCnnShape& s = *taken;
  SmallCnnPlan plan{.shape = s};
  plan.blocks = static_cast<int>(std::min(s.n, kSmallCnnBlocks));
  if (s.gradients) {
    plan.sums_blocks += blocks_of_columns(s.sums()) + blocks_of_columns(s.features() + 1);
  }
  plan.slopes = s.n * s.features();
  plan.parts = plan.slopes + s.n * slope_pitch(s.padded_classes);
  plan.losses = s.gradients ? plan.parts + std::int64_t{plan.blocks} * s.sums() : 0;
  plan.floats = plan.losses + s.n;
  return plan;
}

bool small_cnn_is_worth_it(const NodeView& node) {
  constexpr double kLaunches = 2;
  // Assumed, not measured: the kernels of a captured step start 1.5 microseconds apart, in which an
  // H100 moves 5 MB by its data sheet.
  constexpr double kBytesALaunch = 5e6;
  const auto& op = static_cast<const SmallCnnOp&>(node.op);
  const Saving saving = op.saving(node.inputs);
  // Each sample reads v twice from the L2 cache, which is about twice as fast as memory; where v
  // fits into the L1 cache, each of the kernel's blocks does once.
  constexpr std::size_t kNear = 160 << 10;
  const std::int64_t batch = op.attrs().gather.batch;
  const std::size_t v = node.inputs[SmallCnnOp::In::v].bytes();
  const auto reads = static_cast<double>(v <= kNear ? std::min(batch, kSmallCnnBlocks) : batch);
  return saving.bytes - reads * static_cast<double>(v) +
             kBytesALaunch * (saving.operators - kLaunches) >
         0;
}

}  // namespace linnet::cuda
