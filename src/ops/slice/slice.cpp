// SPDX-License-Identifier: Apache-2.0
#include "ops/slice/slice.h"

#include "graph/registry.h"
#include "ops/slice/axis.h"

namespace linnet {
namespace {

void require_sample_axis(std::span<const ValueType> inputs, int axis, const char* operand) {
  require(inputs.size() == 1 && inputs[kFirst].dtype == DType::f32 &&
              is_sample_axis(inputs[kFirst].shape, axis),
          "expected one f32 operand with an axis {} after the batch; got {}", axis,
          to_string({operand}, {inputs.begin(), inputs.end()}));
}

}  // namespace

std::vector<ValueType> SliceOp::infer(std::span<const ValueType> inputs) const {
  const auto& [axis, begin, end] = attrs();
  require_sample_axis(inputs, axis, "x");
  require(0 <= begin && begin <= end && end <= inputs[In::x].shape[axis],
          "expected [{1}, {2}) within axis {0}; got {3}", axis, begin, end,
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, with_dim(inputs[In::x].shape, axis, end - begin)}};
}

std::vector<Value> SliceOp::gradient(const GradientArgs& args) const {
  const std::int64_t dim = args.graph.shape(args.node.inputs[In::x])[attrs().axis];
  return {args.graph.emit(SliceGradOp({.axis = attrs().axis, .begin = attrs().begin, .dim = dim}),
                          {args.output_gradients[Out::y]}, args.node.name)};
}

void SliceOp::reference(const ReferenceArgs& args) const {
  const AxisView from = axis_view(args.in(In::x).shape, attrs().axis);
  const AxisView to = axis_view(args.out(Out::y).shape, attrs().axis);
  for (std::int64_t o = 0; o < to.outer; ++o) {
    for (std::int64_t k = 0; k < to.row(); ++k) {
      args.out(Out::y)[o * to.row() + k] =
          args.in(In::x)[o * from.row() + attrs().begin * from.inner + k];
    }
  }
}

Cost SliceOp::cost(std::span<const ValueType> /*inputs*/,
                   std::span<const ValueType> outputs) const {
  return {.flops = 0, .bytes = 2 * static_cast<double>(outputs[Out::y].bytes())};
}

std::vector<ValueType> SliceGradOp::infer(std::span<const ValueType> inputs) const {
  const auto& [axis, begin, dim] = attrs();
  require_sample_axis(inputs, axis, "dy");
  require(0 <= begin && begin <= dim - inputs[In::dy].shape[axis],
          "expected axis {} to fit from {} on into a dimension of {}; got {}", axis, begin, dim,
          to_string({"dy"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, with_dim(inputs[In::dy].shape, axis, dim)}};
}

std::vector<Value> SliceGradOp::gradient(const GradientArgs& args) const {
  const std::int64_t dim = args.graph.shape(args.node.inputs[In::dy])[attrs().axis];
  return {args.graph.emit(
      SliceOp({.axis = attrs().axis, .begin = attrs().begin, .end = attrs().begin + dim}),
      {args.output_gradients[Out::dx]}, args.node.name)};
}

void SliceGradOp::reference(const ReferenceArgs& args) const {
  const AxisView from = axis_view(args.in(In::dy).shape, attrs().axis);
  const AxisView to = axis_view(args.out(Out::dx).shape, attrs().axis);
  for (double& dx : args.out(Out::dx).data) dx = 0;
  for (std::int64_t o = 0; o < from.outer; ++o) {
    for (std::int64_t k = 0; k < from.row(); ++k) {
      args.out(Out::dx)[o * to.row() + attrs().begin * to.inner + k] =
          args.in(In::dy)[o * from.row() + k];
    }
  }
}

void register_slice(OpRegistry& registry) {
  registry.add<SliceOp>();
  registry.add<SliceGradOp>();
}

}  // namespace linnet
