// SPDX-License-Identifier: Apache-2.0
#include "ops/unary/unary.h"

#include <cmath>
#include <numbers>

#include "graph/registry.h"
#include "ops/unary/terms.h"

namespace linnet {
namespace {

double clipped(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double gelu_argument(double x) {
  return std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
}

double evaluate(const UnaryAttrs& a, double x) {
  switch (a.kind) {
    case Unary::exp: return std::exp(x);
    case Unary::log: return std::log(x);
    case Unary::log1p: return std::log1p(x);
    case Unary::sqrt: return std::sqrt(x);
    case Unary::rsqrt: return 1 / std::sqrt(x);
    case Unary::square: return x * x;
    case Unary::abs: return std::abs(x);
    case Unary::sign: return x > 0 ? 1 : x < 0 ? -1 : x;
    case Unary::sin: return std::sin(x);
    case Unary::cos: return std::cos(x);
    case Unary::reciprocal: return 1 / x;
    case Unary::pow: return std::pow(x, a.alpha);
    case Unary::clip: return clipped(x, a.alpha, a.beta);
    case Unary::leaky_relu: return x > 0 ? x : a.alpha * x;
    case Unary::elu: return x > 0 ? x : a.alpha * std::expm1(x);
    case Unary::selu: return kSeluScale * (x > 0 ? x : kSeluAlpha * std::expm1(x));
    case Unary::silu: return x * logistic(x);
    case Unary::softplus:
      return a.alpha * x > 700 ? x : std::log1p(std::exp(a.alpha * x)) / a.alpha;
    case Unary::hard_sigmoid: return clipped(x + 3, 0, 6) / 6;
    case Unary::hard_swish: return x * clipped(x + 3, 0, 6) / 6;
    case Unary::gelu_tanh: return 0.5 * x * (1 + std::tanh(gelu_argument(x)));
    case Unary::expm1: return std::expm1(x);
    case Unary::erf: return std::erf(x);
    case Unary::floor: return std::floor(x);
    case Unary::ceil: return std::ceil(x);
    case Unary::round: return std::nearbyint(x);
  }
  return x;
}

/// f'(x); the kinds of slope_from_output() get y.
double slope(const UnaryAttrs& a, double x) {
  switch (a.kind) {
    case Unary::exp: return x;
    case Unary::log: return 1 / x;
    case Unary::log1p: return 1 / (1 + x);
    case Unary::sqrt: return 0.5 / x;
    case Unary::rsqrt: return -0.5 * x * x * x;
    case Unary::square: return 2 * x;
    case Unary::abs: return x > 0 ? 1 : x < 0 ? -1 : x;
    case Unary::sign: return 0;
    case Unary::sin: return std::cos(x);
    case Unary::cos: return -std::sin(x);
    case Unary::reciprocal: return -x * x;
    case Unary::pow: return a.alpha == 0 ? 0 : a.alpha * std::pow(x, a.alpha - 1);
    case Unary::clip: return x <= a.alpha || x >= a.beta ? 0 : 1;
    case Unary::leaky_relu: return x > 0 ? 1 : a.alpha;
    case Unary::elu: return x > 0 ? 1 : a.alpha * std::exp(x);
    case Unary::selu: return kSeluScale * (x > 0 ? 1 : kSeluAlpha * std::exp(x));
    case Unary::silu: return logistic(x) * (1 + x * (1 - logistic(x)));
    case Unary::softplus: return logistic(a.alpha * x);
    case Unary::hard_sigmoid: return x > -3 && x < 3 ? 1.0 / 6 : 0;
    case Unary::hard_swish: return x < -3 ? 0 : x < 3 ? x / 3 + 0.5 : 1;
    case Unary::gelu_tanh: {
      const double s = logistic(2 * gelu_argument(x));
      const double inner = std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
      return s + x * 2 * s * (1 - s) * inner;
    }
    case Unary::expm1: return std::exp(x);
    case Unary::erf: return 2 * std::numbers::inv_sqrtpi * std::exp(-x * x);
    case Unary::floor:
    case Unary::ceil:
    case Unary::round: return 0;
  }
  return 1;
}

}  // namespace

std::vector<ValueType> UnaryOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32,
          "expected one f32 operand; got {}", to_string({"x"}, {inputs.begin(), inputs.end()}));
  const UnaryAttrs& a = attrs();
  require(a.kind != Unary::clip || a.alpha <= a.beta,
          "expected a lower bound not above the upper one; got {} and {}", a.alpha, a.beta);
  require(a.kind != Unary::softplus || a.alpha > 0, "expected a softplus of beta above 0; got {}",
          a.alpha);
  return {inputs[In::x]};
}

std::vector<Value> UnaryOp::gradient(const GradientArgs& args) const {
  if (is_flat(attrs().kind)) return {Value{}};
  const Value saved =
      slope_from_output(attrs().kind) ? args.node.outputs[Out::y] : args.node.inputs[In::x];
  return {args.graph.emit(UnaryGradOp(attrs()), {args.output_gradients[Out::y], saved},
                          args.node.name)};
}

void UnaryOp::reference(const ReferenceArgs& args) const {
  for (std::int64_t i = 0; i < args.in(In::x).shape.elements(); ++i) {
    args.out(Out::y)[i] = evaluate(attrs(), args.in(In::x)[i]);
  }
}

std::vector<ValueType> UnaryGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[In::dy] == inputs[In::saved] &&
              inputs[In::dy].dtype == DType::f32,
          "expected two f32 operands of one shape; got {}",
          to_string({"dy", slope_from_output(attrs().kind) ? "y" : "x"},
                    {inputs.begin(), inputs.end()}));
  return {inputs[In::dy]};
}

namespace {

/// Returns `g` times the slope of f' by what it is computed from, `x`, or y where
/// slope_from_output(); none: it is 0 wherever it is defined.
Value second_slope(const Terms& terms, const UnaryAttrs& a, Value g, Value x) {
  const auto times = [&](Value factor) { return terms.product(g, factor); };
  const auto power = [&](Value of, double exponent) {
    return terms.unary({.kind = Unary::pow, .alpha = exponent}, of);
  };
  const UnaryAttrs step{.kind = Unary::leaky_relu};
  switch (a.kind) {
    case Unary::exp: return g;
    case Unary::log: return times(terms.scaled(power(x, -2), -1));
    case Unary::log1p: return times(terms.scaled(power(terms.scaled(x, 1, 1), -2), -1));
    case Unary::sqrt: return times(terms.scaled(power(x, -2), -0.5));
    case Unary::rsqrt: return times(terms.scaled(terms.square(x), -1.5));
    case Unary::square: return terms.scaled(g, 2);
    case Unary::sin: return times(terms.scaled(terms.unary({.kind = Unary::sin}, x), -1));
    case Unary::cos: return times(terms.scaled(terms.unary({.kind = Unary::cos}, x), -1));
    case Unary::reciprocal: return times(terms.scaled(x, -2));
    case Unary::pow: {
      const double factor = a.alpha * (a.alpha - 1);
      if (factor == 0) return {};
      return times(terms.scaled(power(x, a.alpha - 2), factor));
    }
    // Below 0 the slope's slope is the slope itself.
    case Unary::elu: return terms.difference(terms.slope(a, g, x), terms.slope(step, g, x));
    case Unary::selu:
      return terms.difference(terms.slope(a, g, x),
                              terms.scaled(terms.slope(step, g, x), kSeluScale));
    case Unary::silu: {  // s (1 - s) (2 + x (1 - 2 s))
      const Value s = terms.logistic(x);
      const Value bend = terms.product(s, terms.scaled(s, -1, 1));
      return times(
          terms.product(bend, terms.scaled(terms.product(x, terms.scaled(s, -2, 1)), 1, 2)));
    }
    case Unary::softplus: {
      const Value s = terms.logistic(terms.scaled(x, a.alpha));
      return times(terms.scaled(terms.product(s, terms.scaled(s, -1, 1)), a.alpha));
    }
    case Unary::hard_swish:
      return terms.scaled(terms.slope({.kind = Unary::clip, .alpha = -3, .beta = 3}, g, x),
                          1.0 / 3);
    case Unary::gelu_tanh: {  // b (2 u' + x (u'' + (1 - 2 s) u'²)), b = s (1 - s), s = logistic(u)
      const double c = 2 * std::sqrt(2 / std::numbers::pi);
      const double cubic = 0.044715;
      const Value square = terms.square(x);
      const Value s = terms.logistic(terms.product(x, terms.scaled(square, c * cubic, c)));  // of u
      const Value first = terms.scaled(square, 3 * c * cubic, c);
      const Value second = terms.scaled(x, 6 * c * cubic);
      const Value bend = terms.product(s, terms.scaled(s, -1, 1));
      const Value inner =
          terms.sum(second, terms.product(terms.scaled(s, -2, 1), terms.square(first)));
      return times(terms.product(bend, terms.sum(terms.scaled(first, 2), terms.product(x, inner))));
    }
    case Unary::expm1: return times(terms.exp(x));
    case Unary::erf: {
      const Value bell = terms.exp(terms.scaled(terms.square(x), -1));
      return times(terms.scaled(terms.product(x, bell), -4 / std::sqrt(std::numbers::pi)));
    }
    default: return {};
  }
}

}  // namespace

std::vector<Value> UnaryGradOp::gradient(const GradientArgs& args) const {
  const Terms terms(args.graph, args.node.name);
  const Value g = args.output_gradients[Out::dx];
  const Value saved = args.node.inputs[In::saved];
  std::vector<Value> gradients(2);
  if (args.needed[In::dy]) gradients[In::dy] = terms.slope(attrs(), g, saved);
  if (args.needed[In::saved]) {
    gradients[In::saved] =
        second_slope(terms, attrs(), terms.product(g, args.node.inputs[In::dy]), saved);
  }
  return gradients;
}

void UnaryGradOp::reference(const ReferenceArgs& args) const {
  for (std::int64_t i = 0; i < args.in(In::dy).shape.elements(); ++i) {
    args.out(Out::dx)[i] = args.in(In::dy)[i] * slope(attrs(), args.in(In::saved)[i]);
  }
}

void register_unary(OpRegistry& registry) {
  registry.add<UnaryOp>();
  registry.add<UnaryGradOp>();
}

}  // namespace linnet
