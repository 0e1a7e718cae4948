// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduce.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/dims.h"
#include "graph/registry.h"
#include "ops/unary/terms.h"

namespace linnet {
namespace {

using Dims = std::vector<std::int64_t>;

bool contains(const Dims& axes, std::size_t axis) {
  return std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(axis));
}

/// Ascending, none of them the batch, all below `rank`.
bool are_sample_axes(const Dims& axes, std::size_t rank) {
  return !axes.empty() && axes.front() >= 1 && axes.back() < static_cast<std::int64_t>(rank) &&
         std::adjacent_find(axes.begin(), axes.end(), std::greater_equal<>()) == axes.end();
}

Shape reduced_shape(const Shape& shape, const Dims& axes, bool keep_dims) {
  Dims dims;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (!contains(axes, i))
      dims.push_back(shape.dims()[i]);
    else if (keep_dims)
      dims.push_back(1);
  }
  return Shape(dims);
}

std::int64_t reduced_elements(const Shape& shape, const Dims& axes) {
  std::int64_t count = 1;
  for (std::int64_t axis : axes) count *= shape.dims()[static_cast<std::size_t>(axis)];
  return count;
}

/// For each element of an array, in order, the element of the reduced array that it belongs to.
Dims reduced_places(const Shape& shape, const Dims& axes) {
  Dims places = {0};
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const std::int64_t dim = shape.dims()[i];
    Dims finer;
    for (std::int64_t place : places) {
      for (std::int64_t k = 0; k < dim; ++k) {
        finer.push_back(contains(axes, i) ? place : place * dim + k);
      }
    }
    places = std::move(finer);
  }
  return places;
}

double identity_of(Reduction kind) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return kind == Reduction::max ? -kInfinity : kind == Reduction::min ? kInfinity : 0;
}

double combine(Reduction kind, double total, double x) {
  if (std::isnan(total) || std::isnan(x)) return std::numeric_limits<double>::quiet_NaN();
  if (kind == Reduction::max) return std::max(total, x);
  if (kind == Reduction::min) return std::min(total, x);
  return total + x;
}

}  // namespace

std::vector<ValueType> ReduceOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 &&
              are_sample_axes(attrs().axes, inputs[In::x].shape.rank()),
          "expected one f32 operand with the axes ({}), ascending, after the batch; got {}",
          fmt::join(attrs().axes, ", "), to_string({"x"}, {inputs.begin(), inputs.end()}));
  require(reduced_elements(inputs[In::x].shape, attrs().axes) > 0,
          "expected elements along the axes ({}); got {}", fmt::join(attrs().axes, ", "),
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, reduced_shape(inputs[In::x].shape, attrs().axes, attrs().keep_dims)}};
}

std::vector<Value> ReduceOp::gradient(const GradientArgs& args) const {
  const auto& [kind, axes, keep_dims] = attrs();
  const Value dy = args.output_gradients[Out::y];
  const Value x = args.node.inputs[In::x];
  if (kind == Reduction::max || kind == Reduction::min) {
    return {args.graph.emit(ReduceSelectGradOp({.axes = axes, .keep_dims = keep_dims}),
                            {dy, x, args.node.outputs[Out::y]}, args.node.name)};
  }
  Dims dims;
  for (std::int64_t axis : axes) {
    dims.push_back(args.graph.shape(x)[static_cast<int>(axis)]);
  }
  return {args.graph.emit(ReduceGradOp(
                              {.kind = kind, .axes = axes, .dims = dims, .keep_dims = keep_dims}),
                          {dy}, args.node.name)};
}

void ReduceOp::reference(const ReferenceArgs& args) const {
  const Dims places = reduced_places(args.in(In::x).shape, attrs().axes);
  for (double& y : args.out(Out::y).data) y = identity_of(attrs().kind);
  for (std::size_t i = 0; i < places.size(); ++i) {
    double& y = args.out(Out::y)[places[i]];
    y = combine(attrs().kind, y, args.in(In::x).data[i]);
  }
  if (attrs().kind != Reduction::mean) return;
  const std::int64_t count = reduced_elements(args.in(In::x).shape, attrs().axes);
  for (double& y : args.out(Out::y).data) y /= static_cast<double>(count);
}

Cost ReduceOp::cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const {
  return {.flops = static_cast<double>(inputs[In::x].shape.elements()),
          .bytes = static_cast<double>(inputs[In::x].bytes() + outputs[Out::y].bytes())};
}

std::vector<ValueType> ReduceGradOp::infer(std::span<const ValueType> inputs) const {
  const auto& [kind, axes, sizes, keep_dims] = attrs();
  require(kind == Reduction::sum || kind == Reduction::mean, "expected the kind sum or mean");
  const bool positive = std::ranges::all_of(sizes, [](std::int64_t e) { return e > 0; });
  require(axes.size() == sizes.size() && positive,
          "expected as many positive dimensions as axes; got axes ({}) and dimensions ({})",
          fmt::join(axes, ", "), fmt::join(sizes, ", "));
  bool fits = inputs.size() == 1 && inputs[In::dy].dtype == DType::f32;
  Dims dims = fits ? dims_of(inputs[In::dy].shape) : Dims{};
  fits = fits && are_sample_axes(axes, dims.size() + (keep_dims ? 0 : axes.size()));
  for (std::size_t i = 0; fits && i < axes.size(); ++i) {
    // Ascending axes: each is inserted at its final place.
    const auto at = dims.begin() + std::min(axes[i], static_cast<std::int64_t>(dims.size()));
    if (!keep_dims) {
      fits = at - dims.begin() == axes[i];
      dims.insert(at, sizes[i]);
    } else {
      fits = *at == 1;
      *at = sizes[i];
    }
  }
  require(fits, "expected one f32 operand to repeat along the axes ({}); got {}",
          fmt::join(axes, ", "), to_string({"dy"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, Shape(dims)}};
}

std::vector<Value> ReduceGradOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(
      ReduceOp({.kind = attrs().kind, .axes = attrs().axes, .keep_dims = attrs().keep_dims}),
      {args.output_gradients[Out::dx]}, args.node.name)};
}

void ReduceGradOp::reference(const ReferenceArgs& args) const {
  const Dims places = reduced_places(args.out(Out::dx).shape, attrs().axes);
  const bool mean = attrs().kind == Reduction::mean;
  const std::int64_t count = mean ? reduced_elements(args.out(Out::dx).shape, attrs().axes) : 1;
  for (std::size_t i = 0; i < places.size(); ++i) {
    args.out(Out::dx).data[i] = args.in(In::dy)[places[i]] / static_cast<double>(count);
  }
}

std::vector<ValueType> ReduceSelectGradOp::infer(std::span<const ValueType> inputs) const {
  const auto& [axes, keep_dims] = attrs();
  require(inputs.size() == 3 && inputs[In::x].dtype == DType::f32 &&
              are_sample_axes(axes, inputs[In::x].shape.rank()) &&
              inputs[In::dy] == inputs[In::y] &&
              inputs[In::dy] ==
                  ValueType{DType::f32, reduced_shape(inputs[In::x].shape, axes, keep_dims)},
          "expected f32 operands, dy and y as x without the axes ({}); got {}",
          fmt::join(axes, ", "), to_string({"dy", "x", "y"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::x]};
}

std::vector<Value> ReduceSelectGradOp::gradient(const GradientArgs& args) const {
  const Node& node = args.node;
  const Terms terms(args.graph, node.name);
  const Value dy = node.inputs[In::dy];
  std::vector<Value> gradients(node.inputs.size());  // what is selected stays so: none by x and y
  if (!args.needed[In::dy]) return gradients;
  const Value selected =
      args.graph.emit(ReduceSelectGradOp(attrs()),
                      {terms.scaled(dy, 0, 1), node.inputs[In::x], node.inputs[In::y]}, node.name);
  gradients[In::dy] = args.graph.emit(
      ReduceOp({.kind = Reduction::sum, .axes = attrs().axes, .keep_dims = attrs().keep_dims}),
      {terms.product(args.output_gradients[Out::dx], selected)}, node.name);
  return gradients;
}

void ReduceSelectGradOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& x = args.in(In::x);
  const Dims places = reduced_places(x.shape, attrs().axes);
  std::vector<bool> found(args.in(In::y).data.size(), false);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double y = args.in(In::y)[places[i]];
    const auto place = static_cast<std::size_t>(places[i]);
    const bool selected = x.data[i] == y || (std::isnan(x.data[i]) && std::isnan(y));
    args.out(Out::dx).data[i] = selected && !found[place] ? args.in(In::dy)[places[i]] : 0;
    if (selected) found[place] = true;
  }
}

void register_reduce(OpRegistry& registry) {
  registry.add<ReduceOp>();
  registry.add<ReduceGradOp>();
  registry.add<ReduceSelectGradOp>();
}

}  // namespace linnet
