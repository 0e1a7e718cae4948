// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "backend/cpu/exponential.h"
#include "ops/activation/formulas.h"

namespace linnet::cpu {

// formulas.h without a branch or a call, so that loops over them become vector instructions.

namespace detail {

/// The normal distribution at x, and its density; both at most 4e-7 off. (Abramowitz and Stegun,
/// Handbook of Mathematical Functions, 7.1.26: of the upper tail, which shares the exponential.)
struct Normal {
  float below;
  float density;
};
inline Normal normal(float x) {
  const float power = exp_nonpositive(-0.5F * x * x);
  const float t = 1.0F / (1.0F + 0.3275911F * linnet::detail::kInvSqrt2 * std::fabs(x));
  float p = 1.061405429F;
  p = p * t - 1.453152027F;
  p = p * t + 1.421413741F;
  p = p * t - 0.284496736F;
  p = p * t + 0.254829592F;
  const float tail = 0.5F * t * p * power;
  const float rest = 1.0F - tail;
  return {x < 0 ? tail : rest, linnet::detail::kInvSqrt2Pi * power};
}

/// At most 4 units in the last place off; near 1 half a unit, since slopes are 1 - tanh(x)².
inline float tanh(float x) {
  const float size = std::fabs(x);
  const float e = exp_nonpositive(-2.0F * size);
  const float large = std::copysign(1.0F - 2.0F * e / (1.0F + e), x);
  const float z = x * x;  // near 0 the difference above would cancel: a polynomial
  float p = -5.70498873e-3F;
  p = p * z + 2.06390888e-2F;
  p = p * z - 5.37397156e-2F;
  p = p * z + 1.33314422e-1F;
  p = p * z - 3.33332819e-1F;
  const float small = x * (1.0F + z * p);
  return size < 0.625F ? small : large;
}

inline float sigmoid(float x) {
  const float e = exp_nonpositive(-std::fabs(x));
  const float upper = 1.0F / (1.0F + e);
  const float lower = e * upper;
  return x < 0 ? lower : upper;
}

}  // namespace detail

/// f(x). NaN stays NaN.
template <Activation kKind>
float activate(float x) {
  if constexpr (kKind == Activation::tanh) return detail::tanh(x);
  if constexpr (kKind == Activation::sigmoid) return detail::sigmoid(x);
  if constexpr (kKind == Activation::gelu) return x * detail::normal(x).below;
  return activate_f32<kKind>(x);
}

/// dy * f'(·), of activation_gradient_f32()'s operands.
template <Activation kKind>
float activation_gradient(float dy, float saved) {
  if constexpr (kKind == Activation::gelu) {
    const detail::Normal at = detail::normal(saved);
    return dy * (at.below + saved * at.density);
  }
  return activation_gradient_f32<kKind>(dy, saved);
}

}  // namespace linnet::cpu
