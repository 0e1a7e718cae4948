// SPDX-License-Identifier: Apache-2.0
#include "ops/pad/pad.h"

#include <limits>

#include "graph/registry.h"
#include "ops/slice/axis.h"
#include "ops/slice/slice.h"

namespace linnet {

std::vector<ValueType> PadOp::infer(std::span<const ValueType> inputs) const {
  const auto& [axis, before, after, value] = attrs();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 &&
              is_sample_axis(inputs[In::x].shape, axis) && 0 <= before && before <= kMost &&
              0 <= after && after <= kMost,
          "expected one f32 operand to pad by {} and {} along an axis {} after the batch; got {}",
          before, after, axis, to_string({"x"}, {inputs.begin(), inputs.end()}));
  const Shape& x = inputs[In::x].shape;
  return {{DType::f32, with_dim(x, axis, before + x[axis] + after)}};
}

std::vector<Value> PadOp::gradient(const GradientArgs& args) const {
  const auto& [axis, before, after, value] = attrs();
  const std::int64_t dim = args.graph.shape(args.node.inputs[In::x])[axis];
  return {args.graph.emit(SliceOp({.axis = axis, .begin = before, .end = before + dim}),
                          {args.output_gradients[Out::y]}, args.node.name)};
}

void PadOp::reference(const ReferenceArgs& args) const {
  const AxisView from = axis_view(args.in(In::x).shape, attrs().axis);
  const AxisView to = axis_view(args.out(Out::y).shape, attrs().axis);
  for (double& y : args.out(Out::y).data) y = attrs().value;
  for (std::int64_t o = 0; o < from.outer; ++o) {
    for (std::int64_t k = 0; k < from.row(); ++k) {
      args.out(Out::y)[o * to.row() + attrs().before * to.inner + k] =
          args.in(In::x)[o * from.row() + k];
    }
  }
}

Cost PadOp::cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const {
  return {.flops = 0,
          .bytes = static_cast<double>(inputs[In::x].bytes() + outputs[Out::y].bytes())};
}

void register_pad(OpRegistry& registry) { registry.add<PadOp>(); }

}  // namespace linnet
