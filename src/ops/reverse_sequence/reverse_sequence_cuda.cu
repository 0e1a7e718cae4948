// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/reverse_sequence/reverse_sequence.h"
#include "ops/slice/axis.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_reverse_sequence(const NodeView& node, const Context& /*context*/) {
  using In = ReverseSequenceOp::In;
  const AxisView s = axis_view(node.in(In::x), 1);
  const auto f = [=] __device__(std::int64_t i, float* y, const float* x,
                                const std::int32_t* lengths) {
    const std::int64_t row = i / s.inner;
    const std::int64_t sample = row / s.dim;
    const std::int64_t from = reversed_step(row % s.dim, lengths[sample], s.dim);
    y[i] = x[(sample * s.dim + from) * s.inner + i % s.inner];
  };
  return each_item<float, float, std::int32_t>("reverse_sequence", node.in(In::x).elements(), f);
}

}  // namespace

void register_reverse_sequence(Registry& registry) {
  registry.add(ReverseSequenceOp::kName, prepare_reverse_sequence);
}

}  // namespace linnet::cuda
