// SPDX-License-Identifier: Apache-2.0
#include "ops/arg_reduce/arg_reduce.h"

#include "graph/registry.h"
#include "ops/slice/axis.h"

namespace linnet {

std::vector<ValueType> ArgReduceOp::infer(std::span<const ValueType> inputs) const {
  const int axis = attrs().axis;
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 &&
              is_sample_axis(inputs[In::x].shape, axis) && inputs[In::x].shape[axis] > 0,
          "expected one f32 operand with elements along an axis {} after the batch; got {}", axis,
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  std::vector<std::int64_t> dims = dims_of(inputs[In::x].shape);
  dims.erase(dims.begin() + axis);
  return {{DType::i32, Shape(dims)}};
}

std::vector<Value> ArgReduceOp::gradient(const GradientArgs& /*args*/) const { return {Value{}}; }

void ArgReduceOp::reference(const ReferenceArgs& args) const {
  const AxisView x = axis_view(args.in(In::x).shape, attrs().axis);
  for (std::int64_t at = 0; at < args.out(Out::y).shape.elements(); ++at) {
    const std::int64_t first = at / x.inner * x.row() + at % x.inner;
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < x.dim; ++k) {
      if (beats(attrs().kind, args.in(In::x)[first + k * x.inner],
                args.in(In::x)[first + best * x.inner]))
        best = k;
    }
    args.out(Out::y)[at] = static_cast<double>(best);
  }
}

void register_arg_reduce(OpRegistry& registry) { registry.add<ArgReduceOp>(); }

}  // namespace linnet
