// SPDX-License-Identifier: Apache-2.0
#include "ops/arithmetic/arithmetic.h"

#include <cmath>

#include "core/dims.h"
#include "graph/registry.h"
#include "graph/sum.h"
#include "ops/arithmetic/broadcast.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"

namespace linnet {
namespace {

double combine(Arithmetic kind, double a, double b) {
  switch (kind) {
    case Arithmetic::add: return a + b;
    case Arithmetic::subtract: return a - b;
    case Arithmetic::multiply: return a * b;
    case Arithmetic::divide: return a / b;
    case Arithmetic::maximum: return a > b || std::isnan(a) ? a : b;
    case Arithmetic::minimum: return a < b || std::isnan(a) ? a : b;
    case Arithmetic::exceeds: return a > b ? 1 : a < b ? 0 : a == b ? 0.5 : a - b;
  }
  return 0;
}

/// The sum of `d`, which has a's shape, over the axes along which b was repeated.
Value sum_to(Graph& graph, Value d, Shape b, const std::string& name) {  // adding moves shapes
  const Shape a = graph.shape(d);
  std::int64_t leading = 0;
  std::vector<std::int64_t> between;
  for (std::size_t i = 0; i < a.rank(); ++i) {
    if (has_axis(a, b, i)) continue;
    const auto axis = static_cast<std::int64_t>(i);
    if (axis == leading) {
      ++leading;
    } else {
      between.push_back(axis);
    }
  }
  if (!between.empty()) {
    d = graph.emit(ReduceOp({.axes = between, .keep_dims = true}), {d}, name);
  }
  if (leading > 0) d = graph.emit(SumLeadingOp({leading}), {d}, name);
  return graph.shape(d) == b ? d : graph.emit(ReshapeOp({.shape = dims_of(b)}), {d}, name);
}

}  // namespace

std::vector<ValueType> ArithmeticOp::infer(std::span<const ValueType> inputs) const {
  require(
      inputs.size() == 2 && inputs[0].dtype == DType::f32 && inputs[1].dtype == DType::f32 &&
          broadcast(inputs[0].shape, inputs[1].shape).has_value(),
      "expected b of a's shape, or with extents of 1 or fewer axes where it is repeated; got {}",
      to_string({"a", "b"}, {inputs.begin(), inputs.end()}));
  return {inputs[0]};
}

std::vector<Value> ArithmeticOp::gradient(const GradientArgs& args) const {
  Graph& graph = args.graph;
  const std::string& name = args.node.name;
  const Value a = args.node.inputs[0];
  const Value b = args.node.inputs[1];
  const Value dy = args.output_gradients[0];
  const auto arithmetic = [&](Arithmetic kind, Value left, Value right) {
    return graph.emit(ArithmeticOp({kind}), {left, right}, name);
  };
  const auto negative = [&](Value x) { return graph.emit(ScaleOp({.alpha = -1}), {x}, name); };
  Value da = dy;
  Value db = dy;
  switch (attrs().kind) {
    case Arithmetic::add: break;
    case Arithmetic::subtract:
      if (args.needed[1]) db = negative(dy);
      break;
    case Arithmetic::multiply:
      if (args.needed[0]) da = arithmetic(Arithmetic::multiply, dy, b);
      if (args.needed[1]) db = arithmetic(Arithmetic::multiply, dy, a);
      break;
    case Arithmetic::divide:
      da = arithmetic(Arithmetic::divide, dy, b);
      if (args.needed[1]) {
        db = negative(arithmetic(Arithmetic::multiply, da, args.node.outputs[0]));
      }
      break;
    case Arithmetic::maximum:
    case Arithmetic::minimum: {
      // What a above b gets; the other operand gets the rest, so that ties are halved.
      const Value above =
          arithmetic(Arithmetic::multiply, dy, arithmetic(Arithmetic::exceeds, a, b));
      const Value rest = arithmetic(Arithmetic::subtract, dy, above);
      da = attrs().kind == Arithmetic::maximum ? above : rest;
      db = attrs().kind == Arithmetic::maximum ? rest : above;
      break;
    }
    case Arithmetic::exceeds: return {Value{}, Value{}};
  }
  if (args.needed[1]) db = sum_to(graph, db, graph.shape(b), name);
  return {args.needed[0] ? da : Value{}, args.needed[1] ? db : Value{}};
}

void ArithmeticOp::reference(const ReferenceArgs& args) const {
  const Shape& a = args.in(0).shape;
  const Shape& b = args.in(1).shape;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    std::int64_t place = 0;
    std::int64_t stride = 1;
    std::int64_t left = i;
    for (std::size_t axis = a.rank(); axis-- > a.rank() - b.rank();) {
      if (has_axis(a, b, axis)) {
        place += left % a.dims()[axis] * stride;
        stride *= a.dims()[axis];
      }
      left /= a.dims()[axis];
    }
    args.out(0)[i] = combine(attrs().kind, args.in(0)[i], args.in(1)[place]);
  }
}

std::vector<ValueType> SumLeadingOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[0].dtype == DType::f32 && attrs().axes >= 1 &&
              static_cast<std::size_t>(attrs().axes) <= inputs[0].shape.rank(),
          "expected an f32 operand with at least {} axes; got {}", attrs().axes,
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  const std::span<const std::int64_t> dims = inputs[0].shape.dims();
  return {{DType::f32, Shape(dims.subspan(static_cast<std::size_t>(attrs().axes)))}};
}

void SumLeadingOp::reference(const ReferenceArgs& args) const {
  const std::int64_t columns = args.out(0).shape.elements();
  for (double& sum : args.out(0).data) sum = 0;
  for (std::int64_t i = 0; i < args.in(0).shape.elements(); ++i) {
    args.out(0)[i % columns] += args.in(0)[i];
  }
}

std::vector<ValueType> ScaleOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[0].dtype == DType::f32, "expected one f32 operand; got {}",
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  return {inputs[0]};
}

std::vector<Value> ScaleOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(ScaleOp({.alpha = attrs().alpha}), {args.output_gradients[0]},
                          args.node.name)};
}

void ScaleOp::reference(const ReferenceArgs& args) const {
  for (std::int64_t i = 0; i < args.in(0).shape.elements(); ++i) {
    args.out(0)[i] = attrs().alpha * args.in(0)[i] + attrs().beta;
  }
}

void register_arithmetic(OpRegistry& registry) {
  registry.add<ArithmeticOp>();
  registry.add<SumLeadingOp>();
  registry.add<ScaleOp>();
  registry.add<SumOp>();
}

}  // namespace linnet
