// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cuda/kernel.h"
#include "ops/small_cnn/small_cnn.h"
#include "ops/small_cnn/small_cnn_sums_cuda.cuh"
#include "ops/small_cnn/small_cnn_tiles_cuda.cuh"

namespace linnet::cuda {
namespace {

/// Of the 48 KiB that every device has; the kernel declares a few bytes itself.
constexpr std::size_t kSharedBytes = (48 << 10) - 16;
constexpr std::int64_t kLargestImage = 32;
constexpr std::int64_t kLargest = 32;  ///< filters, classes, products of a filter

using Samples = void (*)(SmallCnnShape, SmallCnnOperands, SmallCnnResults);
using Sums = void (*)(SmallCnnShape, SmallCnnResults, SmallCnnGradients, int);

/// The kernels for a shape: the usual ones with all loops unrolled.
struct Kernels {
  Samples samples;
  Sums sums;
  int classes;  ///< that they have room for
};

Kernels kernels_for(const SmallCnnShape& s) {
  const auto is = [&](int rows, int row, int channels) {
    return s.kh == rows && s.row_taps == row && s.c == channels && s.classes == 10;
  };
  if (is(3, 3, 1)) return {small_cnn_samples<3, 3, 1, 9, 10>, small_cnn_sums<10>, 10};
  if (is(5, 5, 1)) return {small_cnn_samples<5, 5, 1, 25, 10>, small_cnn_sums<10>, 10};
  if (is(3, 9, 3)) return {small_cnn_samples<3, 9, 3, 27, 10>, small_cnn_sums<10>, 10};
  return {small_cnn_samples<0, 0, 0, 32, 32>, small_cnn_sums<32>, 32};
}

/// Nothing where the kernels don't take the network.
std::optional<SmallCnnShape> shape_of(const SmallCnnAttrs& attrs, const NodeView& node) {
  const Conv2dAttrs& a = attrs.conv_pool.conv;
  const ConvShape s = conv_shape(a, node.in(SmallCnnOp::In::samples).with_batch(attrs.gather.batch),
                                 node.in(SmallCnnOp::In::w), "");
  const std::int64_t classes = node.in(SmallCnnOp::In::c)[0];
  const std::int64_t pads = std::max({a.pad_top, a.pad_bottom, a.pad_left, a.pad_right});
  if (!attrs.conv_pool.is_plain() || s.h > kLargestImage || s.w > kLargestImage ||
      s.co > kLargest || s.co % 4 != 0 || s.taps() > kLargest || classes > kLargest ||
      pads > kLargest) {
    return std::nullopt;
  }
  const auto narrow = [](std::int64_t dim) { return static_cast<int>(dim); };
  SmallCnnShape shape{.n = s.n,
                      .h = narrow(s.h),
                      .w = narrow(s.w),
                      .c = narrow(s.c),
                      .co = narrow(s.co),
                      .kh = narrow(s.kh),
                      .row_taps = narrow(s.kw * s.c),
                      .pad_top = narrow(a.pad_top),
                      .pad_left = narrow(a.pad_left),
                      .pooled_h = narrow(s.oh / 2),
                      .pooled_w = narrow(s.ow / 2),
                      .pitch = narrow((s.w + a.pad_left + a.pad_right) * s.c),
                      .classes = narrow(classes),
                      .padded_classes = 0,
                      .scale = static_cast<float>(attrs.gather.scale),
                      .shift = static_cast<float>(attrs.gather.shift),
                      .slope = s.n > 0 ? 1.0F / static_cast<float>(s.n) : 0.0F,
                      .bytes = node.inputs[SmallCnnOp::In::samples].dtype == DType::u8,
                      .shuffle = attrs.gather.shuffle,
                      .relu = a.activation == Activation::relu,
                      .probabilities = attrs.probabilities,
                      .gradients = false};
  shape.padded_classes = kernels_for(shape).classes;
  if (shape.features() == 0 || SmallCnnLayout(shape).bytes() > kSharedBytes) return std::nullopt;
  return shape;
}

/// The first launch in registers, or null.
Samples tiles_for(const SmallCnnShape& s) {
  if (s.classes == 10 && CnnTiles<16>::fit(s)) return small_cnn_tiles<16, 10>;
  return nullptr;
}

/// Where the workspace holds what the first launch leaves for the second, in floats.
struct Workspace {
  std::int64_t slopes, parts, losses, floats;

  Workspace(const SmallCnnShape& s, std::int64_t blocks) {
    slopes = s.n * s.features();
    parts = slopes + s.n * slope_pitch(s.padded_classes);
    losses = s.gradients ? parts + blocks * (s.taps() + 1) * s.co : 0;
    floats = losses + s.n;
  }
};

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  using Op = SmallCnnOp;
  const SmallCnnAttrs attrs = node.attrs<Op>();
  const std::optional<SmallCnnShape> taken = shape_of(attrs, node);
  if (!taken) return std::nullopt;
  SmallCnnShape s = *taken;
  s.gradients = std::any_of(node.output_read.begin() + Op::Out::dw, node.output_read.end(),
                            [](bool read) { return read; });
  const Kernels kernels = kernels_for(s);
  const std::int64_t blocks = std::min(s.n, kSmallCnnBlocks);
  const int columns =
      blocks_of_columns((s.taps() + 1) * s.co) + blocks_of_columns(s.features() + 1);
  const LaunchShape samples{.grid = static_cast<unsigned>(blocks),
                            .block = kCnnBlock,
                            .shared_bytes = SmallCnnLayout(s).bytes()};
  const Samples tiles = tiles_for(s);
  const LaunchShape in_tiles{.grid = static_cast<unsigned>(blocks), .block = kCnnBlock};
  const LaunchShape sums{.grid = static_cast<unsigned>(s.gradients ? 1 + columns : 1),
                         .block = kCnnBlock};
  const Workspace work(s, blocks);
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(work.floats);
  kernel.engine = std::to_string(blocks) + (s.gradients ? " blocks" : " blocks, no gradients");
  kernel.enqueue = [=](const Args& args) {
    float* floats = args.work();
    const SmallCnnOperands operands{.step = args.step,
                                    .samples = args.in<void>(Op::In::samples),
                                    .targets = args.in<std::int32_t>(Op::In::targets),
                                    .conv_weight = args.in(Op::In::w),
                                    .conv_bias = args.in(Op::In::b),
                                    .weight = args.in(Op::In::v),
                                    .bias = args.in(Op::In::c)};
    const SmallCnnResults results{.scores = args.out(Op::Out::scores),
                                  .labels = args.out<std::int32_t>(Op::Out::labels),
                                  .losses = floats + work.losses,
                                  .pooled = floats,
                                  .logits_slopes = floats + work.slopes,
                                  .parts = floats + work.parts};
    SmallCnnGradients gradients{.loss = args.out(Op::Out::loss),
                                .conv_weight = args.out(Op::Out::dw),
                                .conv_bias = args.out(Op::Out::db),
                                .weight = args.out(Op::Out::dv),
                                .bias = args.out(Op::Out::dc),
                                .stopped = nullptr,
                                .batch = {}};
    if (attrs.finish) {
      gradients.stopped = args.in_out<double>(Op::In::stopped);
      gradients.batch = {.counters = args.in_out<double>(Op::In::counters),
                         .step = args.step,
                         .history = static_cast<std::uint64_t>(attrs.history),
                         .loss = gradients.loss,
                         .samples = static_cast<double>(s.n)};
    }
    if (blocks > 0) {
      const bool tiled = tiles != nullptr && vector_aligned(operands.weight);
      launch(args.stream, "small_cnn", tiled ? in_tiles : samples, tiled ? tiles : kernels.samples,
             s, operands, results);
    }
    launch(args.stream, "small_cnn sums", sums, kernels.sums, s, results, gradients,
           static_cast<int>(blocks));
  };
  return kernel;
}

}  // namespace

void register_small_cnn(Registry& registry) { registry.add(SmallCnnOp::kName, prepare); }

}  // namespace linnet::cuda
