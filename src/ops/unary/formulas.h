// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <utility>

#include "base/host_device.h"
#include "ops/unary/unary.h"

namespace linnet {

// The float formulas of CUDA's kernels; unary_hwy.cpp has the CPU's.

/// The kind with its constants in f32.
template <Unary kKind>
struct UnaryFormula {
  float alpha;
  float beta;

  LINNET_HOST_DEVICE float clipped(float x, float low, float high) const {
    return x < low ? low : x > high ? high : x;
  }
  LINNET_HOST_DEVICE float logistic(float x) const {
    const float e = ::expf(x < 0 ? x : -x);
    return (x < 0 ? e : 1.0F) / (1 + e);
  }
  /// Twice the argument of gelu's tanh: (1 + tanh(u)) / 2 is logistic(2u).
  LINNET_HOST_DEVICE float gelu_argument(float x) const {
    return 1.59576912F * (x + 0.044715F * x * x * x);
  }
  /// f(x)
  LINNET_HOST_DEVICE float operator()(float x) const {
    if constexpr (kKind == Unary::exp) return ::expf(x);
    if constexpr (kKind == Unary::log) return ::logf(x);
    if constexpr (kKind == Unary::log1p) return ::log1pf(x);
    if constexpr (kKind == Unary::sqrt) return ::sqrtf(x);
    if constexpr (kKind == Unary::rsqrt) return 1 / ::sqrtf(x);
    if constexpr (kKind == Unary::square) return x * x;
    if constexpr (kKind == Unary::abs) return ::fabsf(x);
    if constexpr (kKind == Unary::sign) return x > 0 ? 1.0F : x < 0 ? -1.0F : x;
    if constexpr (kKind == Unary::sin) return ::sinf(x);
    if constexpr (kKind == Unary::cos) return ::cosf(x);
    if constexpr (kKind == Unary::reciprocal) return 1 / x;
    if constexpr (kKind == Unary::pow) return ::powf(x, alpha);
    if constexpr (kKind == Unary::clip) return clipped(x, alpha, beta);
    if constexpr (kKind == Unary::leaky_relu) return x > 0 ? x : alpha * x;
    if constexpr (kKind == Unary::elu) return x > 0 ? x : alpha * ::expm1f(x);
    if constexpr (kKind == Unary::selu) {
      return x > 0 ? static_cast<float>(kSeluScale) * x
                   : static_cast<float>(kSeluScale * kSeluAlpha) * ::expm1f(x);
    }
    if constexpr (kKind == Unary::silu) return x * logistic(x);
    if constexpr (kKind == Unary::softplus) {
      const float scaled = alpha * x;
      const float tail = ::log1pf(::expf(scaled < 0 ? scaled : -scaled));
      return (scaled > 0 ? scaled + tail : tail) / alpha;
    }
    if constexpr (kKind == Unary::hard_sigmoid) return clipped(x + 3, 0, 6) / 6;
    if constexpr (kKind == Unary::hard_swish) return x * clipped(x + 3, 0, 6) / 6;
    if constexpr (kKind == Unary::gelu_tanh) return x * logistic(gelu_argument(x));
    if constexpr (kKind == Unary::expm1) return ::expm1f(x);
    if constexpr (kKind == Unary::erf) return ::erff(x);
    if constexpr (kKind == Unary::floor) return ::floorf(x);
    if constexpr (kKind == Unary::ceil) return ::ceilf(x);
    if constexpr (kKind == Unary::round) return ::rintf(x);
    return x;
  }

  /// dy f'(x); `saved` is x, or f(x) where slope_from_output(kKind).
  LINNET_HOST_DEVICE float operator()(float dy, float saved) const {
    if constexpr (kKind == Unary::exp) return dy * saved;
    if constexpr (kKind == Unary::log) return dy / saved;
    if constexpr (kKind == Unary::log1p) return dy / (1 + saved);
    if constexpr (kKind == Unary::sqrt) return dy * 0.5F / saved;
    if constexpr (kKind == Unary::rsqrt) return dy * -0.5F * saved * saved * saved;
    if constexpr (kKind == Unary::square) return dy * 2 * saved;
    if constexpr (kKind == Unary::abs) {
      return dy * (saved > 0 ? 1.0F : saved < 0 ? -1.0F : saved);
    }
    if constexpr (is_flat(kKind)) return dy * 0;
    if constexpr (kKind == Unary::sin) return dy * ::cosf(saved);
    if constexpr (kKind == Unary::cos) return -dy * ::sinf(saved);
    if constexpr (kKind == Unary::reciprocal) return -dy * saved * saved;
    if constexpr (kKind == Unary::pow) {
      return alpha == 0 ? 0.0F : dy * alpha * ::powf(saved, alpha - 1);
    }
    if constexpr (kKind == Unary::clip) return saved <= alpha || saved >= beta ? 0.0F : dy;
    if constexpr (kKind == Unary::leaky_relu) return saved > 0 ? dy : alpha * dy;
    if constexpr (kKind == Unary::elu) {
      return saved > 0 ? dy : dy * alpha * ::expf(saved);
    }
    if constexpr (kKind == Unary::selu) {
      return saved > 0 ? dy * static_cast<float>(kSeluScale)
                       : dy * static_cast<float>(kSeluScale * kSeluAlpha) * ::expf(saved);
    }
    if constexpr (kKind == Unary::silu) {
      const float s = logistic(saved);
      return dy * s * (1 + saved * (1 - s));
    }
    if constexpr (kKind == Unary::softplus) return dy * logistic(alpha * saved);
    if constexpr (kKind == Unary::hard_sigmoid) {
      return saved > -3 && saved < 3 ? dy * (1.0F / 6) : 0.0F;
    }
    if constexpr (kKind == Unary::hard_swish) {
      return saved < -3 ? 0.0F : saved < 3 ? dy * (saved * (1.0F / 3) + 0.5F) : dy;
    }
    if constexpr (kKind == Unary::gelu_tanh) {
      const float s = logistic(gelu_argument(saved));
      const float inner = 1.59576912F * (1 + 0.134145F * saved * saved);
      return dy * (s + saved * s * (1 - s) * inner);
    }
    if constexpr (kKind == Unary::expm1) return dy * ::expf(saved);
    if constexpr (kKind == Unary::erf) return dy * 1.12837917F * ::expf(-saved * saved);
    return dy;
  }
};

/// Calls f.operator()<kKind>() for the kind: a kernel's inner loop knows it at compile time.
template <class F, std::size_t... kKinds>
auto with_unary(Unary kind, F&& f, std::index_sequence<kKinds...>) {
  using Result = decltype(f.template operator()<Unary::exp>());
  constexpr std::array<Result (*)(F&), sizeof...(kKinds)> kCalls{
      [](F& g) { return g.template operator()<static_cast<Unary>(kKinds)>(); }...};
  return kCalls[static_cast<std::size_t>(kind)](f);
}
template <class F>
auto with_unary(Unary kind, F&& f) {
  return with_unary(kind, std::forward<F>(f),
                    std::make_index_sequence<enum_names(Unary{}).size()>());
}

}  // namespace linnet
