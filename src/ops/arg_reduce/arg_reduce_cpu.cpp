// SPDX-License-Identifier: Apache-2.0
#include "ops/arg_reduce/arg_reduce.h"

#include "backend/cpu/kernel.h"
#include "ops/slice/axis.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  const ArgReduceAttrs attrs = node.attrs<ArgReduceOp>();
  const AxisView s = axis_view(node.in(ArgReduceOp::In::x), attrs.axis);
  const double cost = static_cast<double>(s.dim);
  return one_stage(s.outer * s.inner, cost, [=](const Args& args, Range range) {
    for (std::int64_t at = range.begin; at < range.end; ++at) {
      const float* x = args.in(ArgReduceOp::In::x) + at / s.inner * s.row() + at % s.inner;
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < s.dim; ++k) {
        if (beats(attrs.kind, x[k * s.inner], x[best * s.inner])) best = k;
      }
      args.out<std::int32_t>(ArgReduceOp::Out::y)[at] = static_cast<std::int32_t>(best);
    }
  });
}

}  // namespace

void register_arg_reduce(Registry& registry) { registry.add(ArgReduceOp::kName, prepare); }

}  // namespace linnet::cpu
