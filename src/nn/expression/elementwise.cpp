// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/arithmetic/broadcast.h"
#include "ops/unary/unary.h"

namespace linnet {
namespace {

/// Returns whether a is the operand that is repeated.
bool is_smaller(const Expression& a, const Expression& b) {
  const Shape& left = whole_shape(a);
  const Shape& right = whole_shape(b);
  return left.rank() != right.rank() ? left.rank() < right.rank()
                                     : left.elements() < right.elements();
}

/// Returns whether an ArithmeticOp takes both as they are, the larger one first. The first axis of
/// a weight stands for no batch.
bool fit(const Expression& larger, const Expression& smaller) {
  return smaller.shape().rank() <= larger.shape().rank() &&
         broadcast(whole_shape(larger), whole_shape(smaller)).has_value();
}

Expression apply(Arithmetic kind, const Expression& a, const Expression& b) {
  return emit(ArithmeticOp({kind}), {a, b});
}

Expression scale(const Expression& x, double alpha, double beta) {
  return emit(ScaleOp({.alpha = alpha, .beta = beta}), {x});
}

Expression unary(Unary kind, const Expression& x, double alpha = 0, double beta = 0) {
  return emit(UnaryOp({.kind = kind, .alpha = alpha, .beta = beta}), {x});
}

Expression activation(Activation kind, const Expression& x) {
  return emit(ActivationOp({kind}), {x});
}

/// a (kind) b where b / a of the kind that changes sides is given by `swapped`.
template <class F>
Expression arithmetic(Arithmetic kind, const Expression& a, const Expression& b, F swapped) {
  const bool repeats_a = is_smaller(a, b);
  if (repeats_a ? fit(b, a) : fit(a, b)) return repeats_a ? swapped(b, a) : apply(kind, a, b);
  const std::string_view name = enum_names(kind)[static_cast<std::size_t>(kind)];
  const std::vector<Expression> both = expanded_to_common(name, {a, b});
  return apply(kind, both[0], both[1]);
}

/// Applies an operator whose operands may be swapped.
Expression commutative(Arithmetic kind, const Expression& a, const Expression& b) {
  return arithmetic(kind, a, b, [&](const Expression& larger, const Expression& smaller) {
    return apply(kind, larger, smaller);
  });
}

}  // namespace

Expression operator+(const Expression& a, const Expression& b) {
  return commutative(Arithmetic::add, a, b);
}
Expression operator-(const Expression& a, const Expression& b) {
  return arithmetic(Arithmetic::subtract, a, b,
                    [](const Expression& larger, const Expression& smaller) {
                      return -apply(Arithmetic::subtract, larger, smaller);
                    });
}
Expression operator*(const Expression& a, const Expression& b) {
  return commutative(Arithmetic::multiply, a, b);
}
Expression operator/(const Expression& a, const Expression& b) {
  return arithmetic(Arithmetic::divide, a, b,
                    [](const Expression& larger, const Expression& smaller) {
                      return apply(Arithmetic::multiply, reciprocal(larger), smaller);
                    });
}
Expression maximum(const Expression& a, const Expression& b) {
  return commutative(Arithmetic::maximum, a, b);
}
Expression minimum(const Expression& a, const Expression& b) {
  return commutative(Arithmetic::minimum, a, b);
}
// NaN is neither: a stays.
Expression maximum(const Expression& a, double b) { return where(a <= b, b, a); }
Expression minimum(const Expression& a, double b) { return where(a >= b, b, a); }

Expression operator+(const Expression& a, double b) { return scale(a, 1, b); }
Expression operator-(const Expression& a, double b) { return scale(a, 1, -b); }
Expression operator*(const Expression& a, double b) { return scale(a, b, 0); }
Expression operator/(const Expression& a, double b) { return scale(a, 1 / b, 0); }
Expression operator+(double a, const Expression& b) { return scale(b, 1, a); }
Expression operator-(double a, const Expression& b) { return scale(b, -1, a); }
Expression operator*(double a, const Expression& b) { return scale(b, a, 0); }
Expression operator/(double a, const Expression& b) { return reciprocal(b) * a; }
Expression operator-(const Expression& x) { return scale(x, -1, 0); }

Expression exp(const Expression& x) { return unary(Unary::exp, x); }
Expression expm1(const Expression& x) { return unary(Unary::expm1, x); }
Expression log(const Expression& x) { return unary(Unary::log, x); }
Expression log1p(const Expression& x) { return unary(Unary::log1p, x); }
Expression sqrt(const Expression& x) { return unary(Unary::sqrt, x); }
Expression rsqrt(const Expression& x) { return unary(Unary::rsqrt, x); }
Expression square(const Expression& x) { return unary(Unary::square, x); }
Expression reciprocal(const Expression& x) { return unary(Unary::reciprocal, x); }
Expression abs(const Expression& x) { return unary(Unary::abs, x); }
Expression sign(const Expression& x) { return unary(Unary::sign, x); }
Expression sin(const Expression& x) { return unary(Unary::sin, x); }
Expression cos(const Expression& x) { return unary(Unary::cos, x); }
Expression erf(const Expression& x) { return unary(Unary::erf, x); }
Expression floor(const Expression& x) { return unary(Unary::floor, x); }
Expression ceil(const Expression& x) { return unary(Unary::ceil, x); }
Expression round(const Expression& x) { return unary(Unary::round, x); }
Expression pow(const Expression& x, double exponent) { return unary(Unary::pow, x, exponent); }
Expression clip(const Expression& x, double low, double high) {
  return unary(Unary::clip, x, low, high);
}

Expression relu(const Expression& x) { return activation(Activation::relu, x); }
Expression leaky_relu(const Expression& x, double slope) {
  return unary(Unary::leaky_relu, x, slope);
}
Expression elu(const Expression& x, double alpha) { return unary(Unary::elu, x, alpha); }
Expression selu(const Expression& x) { return unary(Unary::selu, x); }
Expression gelu(const Expression& x, bool tanh_form) {
  return tanh_form ? unary(Unary::gelu_tanh, x) : activation(Activation::gelu, x);
}
Expression silu(const Expression& x) { return unary(Unary::silu, x); }
Expression tanh(const Expression& x) { return activation(Activation::tanh, x); }
Expression sigmoid(const Expression& x) { return activation(Activation::sigmoid, x); }
Expression softplus(const Expression& x, double beta) { return unary(Unary::softplus, x, beta); }
Expression hard_sigmoid(const Expression& x) { return unary(Unary::hard_sigmoid, x); }
Expression hard_swish(const Expression& x) { return unary(Unary::hard_swish, x); }
Expression hard_tanh(const Expression& x, double low, double high) { return clip(x, low, high); }

}  // namespace linnet
