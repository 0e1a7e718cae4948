// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/reverse_sequence/reverse_sequence.h"
#include "ops/slice/axis.h"

namespace linnet::cuda {
namespace {

__global__ void reverse_sequence_kernel(float* y, const float* x, const std::int32_t* lengths,
                                        std::int64_t elements, std::int64_t steps,
                                        std::int64_t inner) {
  for (std::int64_t i = first_item(); i < elements; i += grid_stride()) {
    const std::int64_t row = i / inner;
    const std::int64_t sample = row / steps;
    const std::int64_t from = reversed_step(row % steps, lengths[sample], steps);
    y[i] = x[(sample * steps + from) * inner + i % inner];
  }
}

std::optional<Kernel> prepare_reverse_sequence(const NodeView& node, const Context& /*context*/) {
  using In = ReverseSequenceOp::In;
  using Out = ReverseSequenceOp::Out;
  const AxisView view = axis_view(node.in(In::x), 1);
  const std::int64_t elements = node.in(In::x).elements();
  return Kernel{.enqueue = [=](const Args& args) {
    if (elements == 0) return;
    launch(args.stream, "reverse_sequence", for_items(elements), reverse_sequence_kernel,
           args.out(Out::y), args.in(In::x), args.in<std::int32_t>(In::lengths), elements, view.dim,
           view.inner);
  }};
}

}  // namespace

void register_reverse_sequence(Registry& registry) {
  registry.add(ReverseSequenceOp::kName, prepare_reverse_sequence);
}

}  // namespace linnet::cuda
