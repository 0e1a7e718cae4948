// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cuda/kernel.h"
#include "fusions/small_cnn/small_cnn.h"
#include "fusions/small_cnn/small_cnn_sums_cuda.cuh"
#include "fusions/small_cnn/small_cnn_tiles_cuda.cuh"

namespace linnet::cuda {
namespace {

using Samples = void (*)(SmallCnnShape, SmallCnnOperands, SmallCnnResults);
using Sums = void (*)(SmallCnnShape, SmallCnnResults, SmallCnnGradients, int);

/// The kernels for a shape: the usual ones with all loops unrolled.
template <int kClasses>
Samples samples_for(const SmallCnnShape& s) {
  if constexpr (kClasses == 10) {
    const auto is = [&](int rows, int row, int channels) {
      return s.kh == rows && s.row_taps == row && s.c == channels;
    };
    if (is(3, 3, 1)) return small_cnn_samples<3, 3, 1, 9, 10>;
    if (is(5, 5, 1)) return small_cnn_samples<5, 5, 1, 25, 10>;
    if (is(3, 9, 3)) return small_cnn_samples<3, 9, 3, 27, 10>;
  }
  return small_cnn_samples<0, 0, 0, kCnnLargest, kClasses>;
}

std::optional<Kernel> prepare_small_cnn(const NodeView& node, const Context& /*context*/) {
  using Op = SmallCnnOp;
  const SmallCnnAttrs attrs = node.attrs<Op>();
  const std::optional<SmallCnnPlan> taken = plan_small_cnn(node);
  if (!taken) return std::nullopt;
  const SmallCnnPlan plan = *taken;
  const SmallCnnShape& s = plan.shape;
  const bool ten = s.padded_classes == 10;
  const Samples by_samples = ten ? samples_for<10>(s) : samples_for<kCnnLargest>(s);
  const Sums add_sums = ten ? small_cnn_sums<10> : small_cnn_sums<kCnnLargest>;
  // The first launch in registers.
  const Samples tiles = s.classes == 10 && CnnTiles<16>::fit(s) ? small_cnn_tiles<16, 10> : nullptr;
  const LaunchShape in_tiles{.grid = static_cast<unsigned>(plan.blocks), .block = kCnnBlock};
  LaunchShape samples = in_tiles;
  samples.shared_bytes = SmallCnnLayout(s).bytes();
  const LaunchShape sums{.grid = static_cast<unsigned>(plan.sums_blocks), .block = kCnnBlock};
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(plan.floats);
  kernel.engine = std::to_string(plan.blocks) + (s.gradients ? " blocks" : " blocks, no gradients");
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
                                  .losses = floats + plan.losses,
                                  .pooled = floats,
                                  .logits_slopes = floats + plan.slopes,
                                  .parts = floats + plan.parts};
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
                         .samples = static_cast<double>(plan.shape.n)};
    }
    if (plan.blocks > 0) {
      const bool tiled = tiles != nullptr && vector_aligned(operands.weight);
      launch(args.stream, "small_cnn", tiled ? in_tiles : samples, tiled ? tiles : by_samples,
             plan.shape, operands, results);
    }
    launch(args.stream, "small_cnn sums", sums, add_sums, plan.shape, results, gradients,
           plan.blocks);
  };
  return kernel;
}

}  // namespace

void register_small_cnn(Registry& registry) {
  registry.add(SmallCnnOp::kName, prepare_small_cnn);
  registry.wants_if(SmallCnnOp::kName, small_cnn_is_worth_it);
}

}  // namespace linnet::cuda
