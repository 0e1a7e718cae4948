// SPDX-License-Identifier: Apache-2.0
#include "ops/cumsum/cumsum.h"

#include "backend/cpu/kernel.h"
#include "ops/slice/axis.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  const CumsumAttrs attrs = node.attrs<CumsumOp>();
  const AxisView s = axis_view(node.in(CumsumOp::In::x), attrs.axis);
  const double cost = static_cast<double>(s.dim);
  return one_stage(s.outer * s.inner, cost, [=](const Args& args, Range range) {
    for (std::int64_t column = range.begin; column < range.end; ++column) {
      const std::int64_t first = column / s.inner * s.row() + column % s.inner;
      const float* x = args.in(CumsumOp::In::x) + first;
      float* y = args.out(CumsumOp::Out::y) + first;
      float sum = 0;
      for (std::int64_t step = 0; step < s.dim; ++step) {
        const std::int64_t at = (attrs.reverse ? s.dim - 1 - step : step) * s.inner;
        sum += x[at];
        y[at] = sum;
      }
    }
  });
}

}  // namespace

void register_cumsum(Registry& registry) { registry.add(CumsumOp::kName, prepare); }

}  // namespace linnet::cpu
