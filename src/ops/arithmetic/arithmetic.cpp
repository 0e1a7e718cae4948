// SPDX-License-Identifier: Apache-2.0
#include "ops/arithmetic/arithmetic.h"

#include <cmath>

#include "core/dims.h"
#include "graph/add.h"
#include "graph/registry.h"
#include "ops/arithmetic/broadcast.h"
#include "ops/expand/expand.h"
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

}  // namespace

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

std::vector<ValueType> ArithmeticOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[In::a].dtype == DType::f32 &&
              inputs[In::b].dtype == DType::f32 &&
              broadcast(inputs[In::a].shape, inputs[In::b].shape).has_value(),
          "expected b of a shape that broadcasts to a's; got {}",
          to_string({"a", "b"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::a]};
}

std::vector<Value> ArithmeticOp::gradient(const GradientArgs& args) const {
  Graph& graph = args.graph;
  const std::string& name = args.node.name;
  const Value a = args.node.inputs[In::a];
  const Value b = args.node.inputs[In::b];
  const Value dy = args.output_gradients[Out::y];
  const auto arithmetic = [&](Arithmetic kind, Value left, Value right) {
    return graph.emit(ArithmeticOp({kind}), {left, right}, name);
  };
  const auto negative = [&](Value x) { return graph.emit(ScaleOp({.alpha = -1}), {x}, name); };
  Value da = dy;
  Value db = dy;
  switch (attrs().kind) {
    case Arithmetic::add: break;
    case Arithmetic::subtract:
      if (args.needed[In::b]) db = negative(dy);
      break;
    case Arithmetic::multiply:
      if (args.needed[In::a]) da = arithmetic(Arithmetic::multiply, dy, b);
      if (args.needed[In::b]) db = arithmetic(Arithmetic::multiply, dy, a);
      break;
    case Arithmetic::divide:
      da = arithmetic(Arithmetic::divide, dy, b);
      if (args.needed[In::b]) {
        db = negative(arithmetic(Arithmetic::multiply, da, args.node.outputs[Out::y]));
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
  if (args.needed[In::b]) db = sum_to(graph, db, graph.shape(b), name);
  return {args.needed[In::a] ? da : Value{}, args.needed[In::b] ? db : Value{}};
}

void ArithmeticOp::reference(const ReferenceArgs& args) const {
  const Shape& a = args.in(In::a).shape;
  const Shape& b = args.in(In::b).shape;
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
    args.out(Out::y)[i] = combine(attrs().kind, args.in(In::a)[i], args.in(In::b)[place]);
  }
}

std::vector<ValueType> SumLeadingOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 && attrs().axes >= 1 &&
              static_cast<std::size_t>(attrs().axes) <= inputs[In::x].shape.rank(),
          "expected an f32 operand with at least {} axes; got {}", attrs().axes,
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  const std::span<const std::int64_t> dims = inputs[In::x].shape.dims();
  return {{DType::f32, Shape(dims.subspan(static_cast<std::size_t>(attrs().axes)))}};
}

std::vector<Value> SumLeadingOp::gradient(const GradientArgs& args) const {
  const Value x = args.node.inputs[In::x];
  const std::vector<std::int64_t> sample = dims_of(args.graph.shape(x).sample());
  return {args.graph.emit(ExpandOp({.shape = sample}), {args.output_gradients[Out::y], x},
                          args.node.name)};
}

void SumLeadingOp::reference(const ReferenceArgs& args) const {
  const std::int64_t columns = args.out(Out::y).shape.elements();
  for (double& sum : args.out(Out::y).data) sum = 0;
  for (std::int64_t i = 0; i < args.in(In::x).shape.elements(); ++i) {
    args.out(Out::y)[i % columns] += args.in(In::x)[i];
  }
}

std::vector<ValueType> ScaleOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32,
          "expected one f32 operand; got {}", to_string({"x"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::x]};
}

std::vector<Value> ScaleOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(ScaleOp({.alpha = attrs().alpha}), {args.output_gradients[Out::y]},
                          args.node.name)};
}

void ScaleOp::reference(const ReferenceArgs& args) const {
  for (std::int64_t i = 0; i < args.in(In::x).shape.elements(); ++i) {
    args.out(Out::y)[i] = attrs().alpha * args.in(In::x)[i] + attrs().beta;
  }
}

void register_arithmetic(OpRegistry& registry) {
  registry.add<ArithmeticOp>();
  registry.add<SumLeadingOp>();
  registry.add<ScaleOp>();
  registry.add<AddOp>();
}

}  // namespace linnet
