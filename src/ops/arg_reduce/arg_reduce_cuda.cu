// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/arg_reduce/arg_reduce.h"
#include "ops/slice/axis.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_arg_reduce(const NodeView& node, const Context& /*context*/) {
  const ArgReduceAttrs attrs = node.attrs<ArgReduceOp>();
  const AxisView s = axis_view(node.in(ArgReduceOp::In::x), attrs.axis);
  const auto f = [=] __device__(std::int64_t at, std::int32_t * y, const float* x) {
    const float* own = x + at / s.inner * s.dim * s.inner + at % s.inner;
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < s.dim; ++k) {
      if (beats(attrs.kind, own[k * s.inner], own[best * s.inner])) best = k;
    }
    y[at] = static_cast<std::int32_t>(best);
  };
  return each_item<std::int32_t, float>("arg_reduce", s.outer * s.inner, f);
}

}  // namespace

void register_arg_reduce(Registry& registry) {
  registry.add(ArgReduceOp::kName, prepare_arg_reduce);
}

}  // namespace linnet::cuda
