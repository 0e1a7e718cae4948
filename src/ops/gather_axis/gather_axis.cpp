// SPDX-License-Identifier: Apache-2.0
#include "ops/gather_axis/gather_axis.h"

#include <limits>

#include "graph/registry.h"
#include "ops/slice/axis.h"

namespace linnet {
namespace {

/// x's shape with `replaced` axes from the axis on replaced by those in `by`.
Shape with_axes(const Shape& x, int axis, std::size_t replaced, std::span<const std::int64_t> by) {
  const std::span<const std::int64_t> dims = x.dims();
  const auto at = static_cast<std::size_t>(axis);
  std::vector<std::int64_t> all(dims.begin(), dims.begin() + axis);
  all.insert(all.end(), by.begin(), by.end());
  const auto rest = dims.subspan(at + replaced);
  all.insert(all.end(), rest.begin(), rest.end());
  return Shape(all);
}

/// Returns whether ids can gather from x.
bool ids_fit(const GatherAxisAttrs& attrs, std::span<const ValueType> types) {
  if (types.size() != 2 || types[0].dtype != DType::f32 || types[1].dtype != DType::i32) {
    return false;
  }
  const Shape& x = types[0].shape;
  const Shape& ids = types[1].shape;
  if (!is_sample_axis(x, attrs.axis) || ids.rank() == 0 || ids[0] != x[0]) return false;
  return !attrs.along ||
         (ids.rank() == x.rank() && with_dim(ids, attrs.axis, 0) == with_dim(x, attrs.axis, 0));
}

}  // namespace

GatherAxisLayout::GatherAxisLayout(const GatherAxisAttrs& attrs, const Shape& x, const Shape& ids)
    : along(attrs.along) {
  const AxisView view = axis_view(x, attrs.axis);
  rows = view.outer;
  outer = x[0] == 0 ? 1 : view.outer / x[0];
  dim = view.dim;
  inner = view.inner;
  this->ids = attrs.along ? ids[attrs.axis] : product(ids.dims().subspan(1));
}

std::vector<ValueType> GatherAxisOp::infer(std::span<const ValueType> inputs) const {
  require(ids_fit(attrs(), inputs),
          "expected f32 x (N, ...) with the axis {} and i32 ids {}; got {}", attrs().axis,
          attrs().along ? "of x's shape but for that axis" : "(N, ...)",
          to_string({"x", "ids"}, {inputs.begin(), inputs.end()}));
  const Shape& ids = inputs[In::ids].shape;
  return {{DType::f32,
           attrs().along ? ids
                         : with_axes(inputs[In::x].shape, attrs().axis, 1, ids.dims().subspan(1))}};
}

std::vector<Value> GatherAxisOp::gradient(const GradientArgs& args) const {
  if (!args.needed[In::x]) return {Value{}, Value{}};
  const std::int64_t dim = args.graph.shape(args.node.inputs[In::x])[attrs().axis];
  return {args.graph.emit(GatherAxisGradOp({.gather = attrs(), .dim = dim}),
                          {args.output_gradients[Out::y], args.node.inputs[In::ids]},
                          args.node.name),
          Value{}};
}

void GatherAxisOp::reference(const ReferenceArgs& args) const {
  const GatherAxisLayout s(attrs(), args.in(In::x).shape, args.in(In::ids).shape);
  for (std::int64_t at = 0; at < args.out(Out::y).shape.elements(); ++at) {
    const std::int64_t i = at % s.inner;
    const std::int64_t j = at / s.inner % s.ids;
    const std::int64_t row = at / s.inner / s.ids;
    const double id = args.in(In::ids)[s.id(row, j, i)];
    const bool inside = id >= 0 && id < static_cast<double>(s.dim);
    args.out(Out::y)[at] =
        inside ? args.in(In::x)[(row * s.dim + static_cast<std::int64_t>(id)) * s.inner + i]
               : std::numeric_limits<double>::quiet_NaN();
  }
}

Cost GatherAxisOp::cost(std::span<const ValueType> inputs,
                        std::span<const ValueType> outputs) const {
  return {.flops = 0,
          .bytes = static_cast<double>(inputs[In::ids].bytes() + 2 * outputs[Out::y].bytes())};
}

std::vector<ValueType> GatherAxisGradOp::infer(std::span<const ValueType> inputs) const {
  const auto& [gather, dim] = attrs();
  Shape x;
  bool fits = inputs.size() == 2 && inputs[In::dy].dtype == DType::f32 && dim >= 1 &&
              gather.axis >= 1 && inputs[In::ids].shape.rank() >= 1;
  if (fits) {
    const Shape& dy = inputs[In::dy].shape;
    const std::size_t axes = gather.along ? 1 : inputs[In::ids].shape.rank() - 1;
    fits = dy.rank() >= static_cast<std::size_t>(gather.axis) + axes;
    if (fits) x = with_axes(dy, gather.axis, axes, std::span(&dim, 1));
    fits = fits && ids_fit(gather, std::array{ValueType{DType::f32, x}, inputs[In::ids]});
    if (fits) {
      const GatherAxisOp forward(gather);
      fits = forward.infer(std::array{ValueType{DType::f32, x}, inputs[In::ids]})[0].shape == dy;
    }
  }
  require(fits, "expected dy and ids of a gather along axis {} of {}; got {}", gather.axis, dim,
          to_string({"dy", "ids"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, x}};
}

std::vector<Value> GatherAxisGradOp::gradient(const GradientArgs& args) const {
  if (!args.needed[In::dy]) return {Value{}, Value{}};
  return {args.graph.emit(GatherAxisOp(attrs().gather),
                          {args.output_gradients[Out::dx], args.node.inputs[In::ids]},
                          args.node.name),
          Value{}};
}

void GatherAxisGradOp::reference(const ReferenceArgs& args) const {
  const GatherAxisLayout s(attrs().gather, args.out(Out::dx).shape, args.in(In::ids).shape);
  for (double& sum : args.out(Out::dx).data) sum = 0;
  for (std::int64_t at = 0; at < args.in(In::dy).shape.elements(); ++at) {
    const std::int64_t i = at % s.inner;
    const std::int64_t j = at / s.inner % s.ids;
    const std::int64_t row = at / s.inner / s.ids;
    const double id = args.in(In::ids)[s.id(row, j, i)];
    if (!(id >= 0 && id < static_cast<double>(s.dim))) continue;
    args.out(Out::dx)[(row * s.dim + static_cast<std::int64_t>(id)) * s.inner + i] +=
        args.in(In::dy)[at];
  }
}

void register_gather_axis(OpRegistry& registry) {
  registry.add<GatherAxisOp>();
  registry.add<GatherAxisGradOp>();
}

}  // namespace linnet
