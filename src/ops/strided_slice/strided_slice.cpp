// SPDX-License-Identifier: Apache-2.0
#include "ops/strided_slice/strided_slice.h"

#include "graph/registry.h"
#include "ops/slice/axis.h"

namespace linnet {
namespace {

/// Returns whether an axis of `dimension` has the elements.
bool holds(const StridedSliceAttrs& a, std::int64_t dim) {
  if (a.step == 0 || a.count < 0 || a.count > dim || a.begin < 0) return false;
  if (a.count == 0) return a.begin <= dim;
  if (a.step > dim || a.step < -dim || a.begin >= dim) return false;
  const std::int64_t last = a.begin + (a.count - 1) * a.step;
  return last >= 0 && last < dim;
}

}  // namespace

std::vector<ValueType> StridedSliceOp::infer(std::span<const ValueType> inputs) const {
  const StridedSliceAttrs& a = attrs();
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 &&
              is_sample_axis(inputs[In::x].shape, a.axis) && holds(a, inputs[In::x].shape[a.axis]),
          "expected one f32 operand whose axis {} holds {} elements from {} on in steps of {}; got "
          "{}",
          a.axis, a.count, a.begin, a.step, to_string({"x"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, with_dim(inputs[In::x].shape, a.axis, a.count)}};
}

std::vector<Value> StridedSliceOp::gradient(const GradientArgs& args) const {
  const std::int64_t dim = args.graph.shape(args.node.inputs[In::x])[attrs().axis];
  return {args.graph.emit(StridedSliceGradOp({.slice = attrs(), .dim = dim}),
                          {args.output_gradients[Out::y]}, args.node.name)};
}

void StridedSliceOp::reference(const ReferenceArgs& args) const {
  const AxisView from = axis_view(args.in(In::x).shape, attrs().axis);
  for (std::int64_t i = 0; i < args.out(Out::y).shape.elements(); ++i) {
    const std::int64_t line = i / from.inner;
    const std::int64_t k = attrs().begin + line % attrs().count * attrs().step;
    args.out(Out::y)[i] =
        args.in(In::x)[line / attrs().count * from.row() + k * from.inner + i % from.inner];
  }
}

Cost StridedSliceOp::cost(std::span<const ValueType> /*inputs*/,
                          std::span<const ValueType> outputs) const {
  return {.flops = 0, .bytes = 2 * static_cast<double>(outputs[Out::y].bytes())};
}

std::vector<ValueType> StridedSliceGradOp::infer(std::span<const ValueType> inputs) const {
  const auto& [slice, dim] = attrs();
  require(inputs.size() == 1 && inputs[In::dy].dtype == DType::f32 &&
              is_sample_axis(inputs[In::dy].shape, slice.axis) &&
              inputs[In::dy].shape[slice.axis] == slice.count && holds(slice, dim),
          "expected dy with {} elements along axis {}, from {} on in steps of {} of {}; got {}",
          slice.count, slice.axis, slice.begin, slice.step, dim,
          to_string({"dy"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, with_dim(inputs[In::dy].shape, slice.axis, dim)}};
}

std::vector<Value> StridedSliceGradOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(StridedSliceOp(attrs().slice), {args.output_gradients[Out::dx]},
                          args.node.name)};
}

void StridedSliceGradOp::reference(const ReferenceArgs& args) const {
  const StridedSliceAttrs& a = attrs().slice;
  const AxisView to = axis_view(args.out(Out::dx).shape, a.axis);
  for (double& dx : args.out(Out::dx).data) dx = 0;
  for (std::int64_t i = 0; i < args.in(In::dy).shape.elements(); ++i) {
    const std::int64_t line = i / to.inner;
    const std::int64_t k = a.begin + line % a.count * a.step;
    args.out(Out::dx)[line / a.count * to.row() + k * to.inner + i % to.inner] = args.in(In::dy)[i];
  }
}

void register_strided_slice(OpRegistry& registry) {
  registry.add<StridedSliceOp>();
  registry.add<StridedSliceGradOp>();
}

}  // namespace linnet
