// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "base/host_device.h"
#include "ops/activation/activation.h"

namespace linnet {

// The float formulas of CUDA's kernels, inlined into their loops; formulas_hwy.h has the CPU's.

namespace detail {
inline constexpr float kInvSqrt2 = 0.70710678F;
inline constexpr float kInvSqrt2Pi = 0.39894228F;
}  // namespace detail

/// f(x). NaN stays NaN, relu's too.
template <Activation kKind>
LINNET_HOST_DEVICE inline float activate_f32(float x) {
  if constexpr (kKind == Activation::relu) return x < 0 ? 0.0F : x;
  if constexpr (kKind == Activation::tanh) return ::tanhf(x);
  if constexpr (kKind == Activation::sigmoid) return 1 / (1 + ::expf(-x));
  if constexpr (kKind == Activation::gelu) {
    return 0.5F * x * (1 + ::erff(x * detail::kInvSqrt2));
  }
  return x;
}

/// dy * f'(·), from y = f(x), or from x where the slope does not follow from y (gelu).
template <Activation kKind>
LINNET_HOST_DEVICE inline float activation_gradient_f32(float dy, float saved) {
  if constexpr (kKind == Activation::relu) return saved > 0 ? dy : 0.0F;
  if constexpr (kKind == Activation::tanh) return dy * (1 - saved * saved);
  if constexpr (kKind == Activation::sigmoid) return dy * saved * (1 - saved);
  if constexpr (kKind == Activation::gelu) {
    const float density = detail::kInvSqrt2Pi * ::expf(-0.5F * saved * saved);
    return dy * (0.5F * (1 + ::erff(saved * detail::kInvSqrt2)) + saved * density);
  }
  return dy;
}

/// Calls f.operator()<kKind>() for the kind: a kernel's inner loop knows it at compile time.
template <class F>
constexpr decltype(auto) with_activation(Activation kind, F&& f) {
  switch (kind) {
    case Activation::relu: return f.template operator()<Activation::relu>();
    case Activation::tanh: return f.template operator()<Activation::tanh>();
    case Activation::sigmoid: return f.template operator()<Activation::sigmoid>();
    case Activation::gelu: return f.template operator()<Activation::gelu>();
    case Activation::none: break;
  }
  return f.template operator()<Activation::none>();
}

}  // namespace linnet
