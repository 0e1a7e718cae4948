// SPDX-License-Identifier: Apache-2.0
#include "ops/activation/activation.h"

#include <cmath>
#include <numbers>

#include "graph/registry.h"
#include "ops/unary/terms.h"

namespace linnet {

double activate(Activation kind, double x) {
  switch (kind) {
    case Activation::none: return x;
    case Activation::relu: return x < 0 ? 0 : x;  // keeps NaN
    case Activation::tanh: return std::tanh(x);
    case Activation::sigmoid: return 1 / (1 + std::exp(-x));
    case Activation::gelu: return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
  }
  return x;
}

double activation_slope(Activation kind, double x) {
  if (kind != Activation::gelu) return activation_slope_from_output(kind, activate(kind, x));
  const double density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
  return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)) + x * density;
}

double activation_slope_from_output(Activation kind, double y) {
  switch (kind) {
    case Activation::relu: return y > 0 ? 1 : 0;
    case Activation::tanh: return 1 - y * y;
    case Activation::sigmoid: return y * (1 - y);
    default: return 1;
  }
}

std::vector<ValueType> ActivationOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32,
          "expected one f32 operand; got {}", to_string({"x"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::x]};
}

std::vector<Value> ActivationOp::gradient(const GradientArgs& args) const {
  const Value dy = args.output_gradients[Out::y];
  if (attrs().kind == Activation::none) return {dy};
  const Value saved =
      slope_from_output(attrs().kind) ? args.node.outputs[Out::y] : args.node.inputs[In::x];
  return {args.graph.emit(ActivationGradOp(attrs()), {dy, saved}, args.node.name)};
}

void ActivationOp::reference(const ReferenceArgs& args) const {
  for (std::size_t i = 0; i < args.in(In::x).data.size(); ++i) {
    args.out(Out::y).data[i] = activate(attrs().kind, args.in(In::x).data[i]);
  }
}

std::vector<ValueType> ActivationGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[In::dy] == inputs[In::saved],
          "expected two operands of one type; got {}",
          to_string({"dy", "y"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {inputs[In::dy]};
}

std::vector<Value> ActivationGradOp::gradient(const GradientArgs& args) const {
  const Terms terms(args.graph, args.node.name);
  const Value dy = args.node.inputs[In::dy];
  const Value saved = args.node.inputs[In::saved];
  const Value g = args.output_gradients[Out::dx];
  std::vector<Value> gradients(2);
  if (args.needed[In::dy]) {
    gradients[In::dy] = args.graph.emit(ActivationGradOp(attrs()), {g, saved}, args.node.name);
  }
  if (!args.needed[In::saved]) return gradients;
  const auto bent = [&](Value second) { return terms.product(terms.product(g, dy), second); };
  switch (attrs().kind) {
    case Activation::none:
    case Activation::relu: break;
    case Activation::tanh: gradients[In::saved] = bent(terms.scaled(saved, -2)); break;
    case Activation::sigmoid: gradients[In::saved] = bent(terms.scaled(saved, -2, 1)); break;
    case Activation::gelu: {  // (2 - x²) times the normal density
      const Value square = terms.square(saved);
      const Value density =
          terms.scaled(terms.exp(terms.scaled(square, -0.5)), 1 / std::sqrt(2 * std::numbers::pi));
      gradients[In::saved] = bent(terms.product(density, terms.scaled(square, -1, 2)));
      break;
    }
  }
  return gradients;
}

void ActivationGradOp::reference(const ReferenceArgs& args) const {
  for (std::size_t i = 0; i < args.in(In::dy).data.size(); ++i) {
    const double saved = args.in(In::saved).data[i];
    args.out(Out::dx).data[i] =
        args.in(In::dy).data[i] * (slope_from_output(attrs().kind)
                                       ? activation_slope_from_output(attrs().kind, saved)
                                       : activation_slope(attrs().kind, saved));
  }
}

Value activation_gradient_from_output(Graph& graph, Activation kind, Value dy, Value y,
                                      const std::string& name) {
  if (kind == Activation::none) return dy;
  LINNET_ASSERT(slope_from_output(kind));
  return graph.emit(ActivationGradOp({kind}), {dy, y}, name);
}

void register_activation(OpRegistry& registry) {
  registry.add<ActivationOp>();
  registry.add<ActivationGradOp>();
}

}  // namespace linnet
