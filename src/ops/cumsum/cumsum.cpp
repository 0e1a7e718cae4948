// SPDX-License-Identifier: Apache-2.0
#include "ops/cumsum/cumsum.h"

#include "graph/registry.h"
#include "ops/slice/axis.h"

namespace linnet {

std::vector<ValueType> CumsumOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 &&
              is_sample_axis(inputs[In::x].shape, attrs().axis),
          "expected one f32 operand with an axis {} after the batch; got {}", attrs().axis,
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::x]};
}

std::vector<Value> CumsumOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(CumsumOp({.axis = attrs().axis, .reverse = !attrs().reverse}),
                          {args.output_gradients[Out::y]}, args.node.name)};
}

void CumsumOp::reference(const ReferenceArgs& args) const {
  const AxisView s = axis_view(args.in(In::x).shape, attrs().axis);
  for (std::int64_t column = 0; column < s.outer * s.inner; ++column) {
    const std::int64_t first = column / s.inner * s.row() + column % s.inner;
    double sum = 0;
    for (std::int64_t step = 0; step < s.dim; ++step) {
      const std::int64_t k = attrs().reverse ? s.dim - 1 - step : step;
      args.out(Out::y)[first + k * s.inner] = sum += args.in(In::x)[first + k * s.inner];
    }
  }
}

void register_cumsum(OpRegistry& registry) { registry.add<CumsumOp>(); }

}  // namespace linnet
