// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/arg_reduce/arg_reduce.h"
#include "ops/slice/axis.h"

namespace linnet::cuda {
namespace {

__global__ void arg_reduce_kernel(const float* x, AxisView s, ArgReduction kind, std::int32_t* y) {
  for (std::int64_t at = first_item(); at < s.outer * s.inner; at += grid_stride()) {
    const float* own = x + at / s.inner * s.dim * s.inner + at % s.inner;
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < s.dim; ++k) {
      if (beats(kind, own[k * s.inner], own[best * s.inner])) best = k;
    }
    y[at] = static_cast<std::int32_t>(best);
  }
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  const ArgReduceAttrs attrs = node.attrs<ArgReduceOp>();
  const AxisView s = axis_view(node.in(ArgReduceOp::In::x), attrs.axis);
  return Kernel{.enqueue = [=](const Args& args) {
    if (s.outer * s.inner == 0) return;
    launch(args.stream, "arg_reduce", for_items(s.outer * s.inner), arg_reduce_kernel,
           args.in(ArgReduceOp::In::x), s, attrs.kind, args.out<std::int32_t>(ArgReduceOp::Out::y));
  }};
}

}  // namespace

void register_arg_reduce(Registry& registry) { registry.add(ArgReduceOp::kName, prepare); }

}  // namespace linnet::cuda
