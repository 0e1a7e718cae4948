// SPDX-License-Identifier: Apache-2.0
// Included once per instruction set, after hwy/foreach_target.h, by sources that Highway compiles
// so: what #pragma once would prevent.
#if defined(LINNET_ACTIVATION_FORMULAS_HWY_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LINNET_ACTIVATION_FORMULAS_HWY_H
#undef LINNET_ACTIVATION_FORMULAS_HWY_H
#else
#define LINNET_ACTIVATION_FORMULAS_HWY_H
#endif

#include "backend/cpu/vector_math_hwy.h"
#include "ops/activation/formulas.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

/// Twice the normal distribution at x.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V twice_normal(D d, V x) {
  return hn::Add(hn::Set(d, 1.0F), vm::erf(d, hn::Mul(x, hn::Set(d, linnet::detail::kInvSqrt2))));
}

/// f(x). NaN stays NaN.
template <Activation kKind, class D, class V = hn::Vec<D>>
HWY_INLINE V activate(D d, V x) {
  if constexpr (kKind == Activation::relu) return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
  if constexpr (kKind == Activation::tanh) return vm::tanh(d, x);
  if constexpr (kKind == Activation::sigmoid) return vm::logistic(d, x);
  if constexpr (kKind == Activation::gelu) {
    return hn::Mul(hn::Mul(hn::Set(d, 0.5F), x), twice_normal(d, x));
  }
  if constexpr (kKind == Activation::none) return x;
}

/// dy f'(.), of activation_gradient_f32()'s operands.
template <Activation kKind, class D, class V = hn::Vec<D>>
HWY_INLINE V activation_gradient(D d, V dy, V saved) {
  if constexpr (kKind == Activation::relu) {
    return hn::IfThenElseZero(hn::Gt(saved, hn::Zero(d)), dy);
  }
  if constexpr (kKind == Activation::tanh) {
    return hn::Mul(dy, hn::NegMulAdd(saved, saved, hn::Set(d, 1.0F)));
  }
  if constexpr (kKind == Activation::sigmoid) {
    return hn::Mul(dy, hn::NegMulAdd(saved, saved, saved));
  }
  if constexpr (kKind == Activation::gelu) {
    const V half = hn::Set(d, 0.5F);
    const V bell = vm::exp(d, hn::Neg(hn::Mul(hn::Mul(half, saved), saved)));
    const V density = hn::Mul(hn::Set(d, linnet::detail::kInvSqrt2Pi), bell);
    return hn::Mul(dy, hn::MulAdd(saved, density, hn::Mul(half, twice_normal(d, saved))));
  }
  if constexpr (kKind == Activation::none) return dy;
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#endif
