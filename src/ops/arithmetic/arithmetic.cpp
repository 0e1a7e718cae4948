// SPDX-License-Identifier: Apache-2.0
#include "ops/arithmetic/arithmetic.h"

#include <algorithm>

#include "graph/registry.h"
#include "graph/sum.h"

namespace linnet {
namespace {

bool is_tail(const Shape& tail, const Shape& whole) {
  return tail.rank() <= whole.rank() &&
         std::equal(tail.dims().rbegin(), tail.dims().rend(), whole.dims().rbegin());
}

double combine(Arithmetic kind, double a, double b) {
  switch (kind) {
    case Arithmetic::add: return a + b;
    case Arithmetic::subtract: return a - b;
    case Arithmetic::multiply: return a * b;
    case Arithmetic::divide: return a / b;
  }
  return 0;
}

}  // namespace

std::vector<ValueType> ArithmeticOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[0].dtype == DType::f32 && inputs[1].dtype == DType::f32 &&
              is_tail(inputs[1].shape, inputs[0].shape),
          "expected b of a's shape or of its last axes; got {}",
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
  }
  const auto repeated = static_cast<std::int64_t>(graph.shape(a).rank() - graph.shape(b).rank());
  if (args.needed[1] && repeated > 0) db = graph.emit(SumLeadingOp({repeated}), {db}, name);
  return {args.needed[0] ? da : Value{}, args.needed[1] ? db : Value{}};
}

void ArithmeticOp::reference(const ReferenceArgs& args) const {
  const std::int64_t period = std::max<std::int64_t>(args.in(1).shape.elements(), 1);
  for (std::int64_t i = 0; i < args.in(0).shape.elements(); ++i) {
    args.out(0)[i] = combine(attrs().kind, args.in(0)[i], args.in(1)[i % period]);
  }
}

std::vector<ValueType> SumLeadingOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[0].dtype == DType::f32 && attrs().axes >= 1 &&
              static_cast<std::size_t>(attrs().axes) <= inputs[0].shape.rank(),
          "expected an f32 operand with at least {} axes; got {}", attrs().axes,
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  const std::vector<std::int64_t>& dims = inputs[0].shape.dims();
  return {{DType::f32, Shape(std::vector<std::int64_t>(dims.begin() + attrs().axes, dims.end()))}};
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
