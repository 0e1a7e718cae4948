// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/unary/unary_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "backend/cpu/elements_hwy.h"
#include "backend/cpu/vector_math_hwy.h"
#include "ops/unary/formulas.h"
#include "ops/unary/unary_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

/// f of each lane, by the C library.
template <class D, class F, class V = hn::Vec<D>>
HWY_INLINE V lane_by_lane(D d, V x, F&& f) {
  HWY_ALIGN float lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (float& lane : lanes) lane = f(lane);
  return hn::Load(d, lanes);
}

/// -1, 0 or 1; NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sign(D d, V x) {
  const V one = hn::CopySign(hn::Set(d, 1.0F), x);
  return hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Zero(d)), one, x);
}

/// Of elu and selu: x above 0, else e^x - 1, each times a factor.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V elu(D d, V x, float above, float below) {
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Mul(hn::Set(d, above), x),
                        hn::Mul(hn::Set(d, below), vm::expm1(d, x)));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V elu_gradient(D d, V dy, V x, float above, float below) {
  const V slope = hn::Mul(hn::Set(d, below), vm::exp(d, x));
  return hn::Mul(dy, hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, above), slope));
}

/// gelu's tanh form is x times the logistic function of this.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu_argument(D d, V x) {
  const V cubic = hn::MulAdd(hn::Set(d, 0.0713548162F), hn::Mul(x, x), hn::Set(d, 1.59576912F));
  return hn::Mul(x, cubic);
}

inline constexpr auto kSeluAbove = static_cast<float>(kSeluScale);
inline constexpr auto kSeluBelow = static_cast<float>(kSeluScale * kSeluAlpha);

/// f(x), its constants alpha and beta in f32.
template <Unary kKind, class D, class V = hn::Vec<D>>
HWY_INLINE V value(D d, V x, float alpha, float beta) {
  const V one = hn::Set(d, 1.0F);
  const V zero = hn::Zero(d);
  if constexpr (kKind == Unary::exp) return vm::exp(d, x);
  if constexpr (kKind == Unary::log) return vm::log(d, x);
  if constexpr (kKind == Unary::log1p) return vm::log1p(d, x);
  if constexpr (kKind == Unary::sqrt) return hn::Sqrt(x);
  if constexpr (kKind == Unary::rsqrt) return hn::Div(one, hn::Sqrt(x));
  if constexpr (kKind == Unary::square) return hn::Mul(x, x);
  if constexpr (kKind == Unary::abs) return hn::Abs(x);
  if constexpr (kKind == Unary::sign) return sign(d, x);
  if constexpr (kKind == Unary::sin) return lane_by_lane(d, x, [](float v) { return ::sinf(v); });
  if constexpr (kKind == Unary::cos) return lane_by_lane(d, x, [](float v) { return ::cosf(v); });
  if constexpr (kKind == Unary::reciprocal) return hn::Div(one, x);
  if constexpr (kKind == Unary::pow) {
    return lane_by_lane(d, x, [=](float v) { return ::powf(v, alpha); });
  }
  if constexpr (kKind == Unary::clip) return vm::clipped(d, x, alpha, beta);
  if constexpr (kKind == Unary::leaky_relu) {
    return hn::IfThenElse(hn::Gt(x, zero), x, hn::Mul(hn::Set(d, alpha), x));
  }
  if constexpr (kKind == Unary::elu) return elu(d, x, 1, alpha);
  if constexpr (kKind == Unary::selu) return elu(d, x, kSeluAbove, kSeluBelow);
  if constexpr (kKind == Unary::silu) return vm::times_logistic(d, x, x);
  if constexpr (kKind == Unary::softplus) {
    const V factor = hn::Set(d, alpha);
    return hn::Div(vm::softplus(d, hn::Mul(factor, x)), factor);
  }
  const V sixth = hn::Set(d, 1.0F / 6);
  if constexpr (kKind == Unary::hard_sigmoid) {
    return hn::Mul(vm::clipped(d, hn::Add(x, hn::Set(d, 3.0F)), 0, 6), sixth);
  }
  if constexpr (kKind == Unary::hard_swish) {
    return hn::Mul(hn::Mul(x, vm::clipped(d, hn::Add(x, hn::Set(d, 3.0F)), 0, 6)), sixth);
  }
  if constexpr (kKind == Unary::gelu_tanh) return vm::times_logistic(d, x, gelu_argument(d, x));
  if constexpr (kKind == Unary::expm1) return vm::expm1(d, x);
  if constexpr (kKind == Unary::erf) return vm::erf(d, x);
  if constexpr (kKind == Unary::floor) return hn::Floor(x);
  if constexpr (kKind == Unary::ceil) return hn::Ceil(x);
  if constexpr (kKind == Unary::round) return hn::Round(x);
}

/// dy f'(x); `saved` is x, or f(x) where slope_from_output(kKind).
template <Unary kKind, class D, class V = hn::Vec<D>>
HWY_INLINE V gradient(D d, V dy, V saved, float alpha, float beta) {
  const V one = hn::Set(d, 1.0F);
  const V zero = hn::Zero(d);
  if constexpr (kKind == Unary::exp) return hn::Mul(dy, saved);
  if constexpr (kKind == Unary::log) return hn::Div(dy, saved);
  if constexpr (kKind == Unary::log1p) return hn::Div(dy, hn::Add(one, saved));
  if constexpr (kKind == Unary::sqrt) return hn::Div(hn::Mul(dy, hn::Set(d, 0.5F)), saved);
  if constexpr (kKind == Unary::rsqrt) {
    const V half = hn::Mul(hn::Mul(dy, hn::Set(d, -0.5F)), saved);
    return hn::Mul(hn::Mul(half, saved), saved);
  }
  if constexpr (kKind == Unary::square) return hn::Mul(hn::Add(dy, dy), saved);
  if constexpr (kKind == Unary::abs) return hn::Mul(dy, sign(d, saved));
  if constexpr (is_flat(kKind)) return hn::Mul(dy, zero);
  if constexpr (kKind == Unary::sin) return hn::Mul(dy, value<Unary::cos>(d, saved, 0, 0));
  if constexpr (kKind == Unary::cos) return hn::Neg(hn::Mul(dy, value<Unary::sin>(d, saved, 0, 0)));
  if constexpr (kKind == Unary::reciprocal) return hn::Neg(hn::Mul(hn::Mul(dy, saved), saved));
  if constexpr (kKind == Unary::pow) {
    if (alpha == 0) return zero;
    return hn::Mul(hn::Mul(dy, hn::Set(d, alpha)), value<Unary::pow>(d, saved, alpha - 1, 0));
  }
  if constexpr (kKind == Unary::clip) {
    const auto outside = hn::Or(hn::Le(saved, hn::Set(d, alpha)), hn::Ge(saved, hn::Set(d, beta)));
    return hn::IfThenZeroElse(outside, dy);
  }
  if constexpr (kKind == Unary::leaky_relu) {
    return hn::IfThenElse(hn::Gt(saved, zero), dy, hn::Mul(hn::Set(d, alpha), dy));
  }
  if constexpr (kKind == Unary::elu) return elu_gradient(d, dy, saved, 1, alpha);
  if constexpr (kKind == Unary::selu) return elu_gradient(d, dy, saved, kSeluAbove, kSeluBelow);
  if constexpr (kKind == Unary::silu) {
    const V s = vm::logistic(d, saved);
    return hn::Mul(hn::Mul(dy, s), hn::MulAdd(saved, hn::Sub(one, s), one));
  }
  if constexpr (kKind == Unary::softplus) {
    return hn::Mul(dy, vm::logistic(d, hn::Mul(hn::Set(d, alpha), saved)));
  }
  if constexpr (kKind == Unary::hard_sigmoid) {
    const auto inside = hn::Lt(hn::Abs(saved), hn::Set(d, 3.0F));
    return hn::IfThenElseZero(inside, hn::Mul(dy, hn::Set(d, 1.0F / 6)));
  }
  if constexpr (kKind == Unary::hard_swish) {
    const V three = hn::Set(d, 3.0F);
    const V between = hn::Mul(dy, hn::MulAdd(saved, hn::Set(d, 1.0F / 3), hn::Set(d, 0.5F)));
    const V upper = hn::IfThenElse(hn::Lt(saved, three), between, dy);
    return hn::IfThenZeroElse(hn::Lt(saved, hn::Neg(three)), upper);
  }
  if constexpr (kKind == Unary::gelu_tanh) {
    const V s = vm::logistic(d, gelu_argument(d, saved));
    const V inner =
        hn::MulAdd(hn::Set(d, 0.214064449F), hn::Mul(saved, saved), hn::Set(d, 1.59576912F));
    const V bend = hn::Mul(hn::Mul(saved, s), hn::Mul(hn::Sub(one, s), inner));
    return hn::Mul(dy, hn::Add(s, bend));
  }
  if constexpr (kKind == Unary::expm1) return hn::Mul(dy, vm::exp(d, saved));
  if constexpr (kKind == Unary::erf) {
    const V bell = vm::exp(d, hn::Neg(hn::Mul(saved, saved)));
    return hn::Mul(hn::Mul(dy, hn::Set(d, 1.12837917F)), bell);
  }
}

void UnaryValues(const UnaryAttrs& attrs, const float* x, std::int64_t count, float* y) {
  const auto alpha = static_cast<float>(attrs.alpha);
  const auto beta = static_cast<float>(attrs.beta);
  with_unary(attrs.kind, [&]<Unary kKind>() HWY_ATTR {
    for_elements(
        count, y, [=](auto d, auto v) HWY_ATTR { return value<kKind>(d, v, alpha, beta); }, x);
  });
}

void UnaryGradients(const UnaryAttrs& attrs, const float* dy, const float* saved,
                    std::int64_t count, float* dx) {
  const auto alpha = static_cast<float>(attrs.alpha);
  const auto beta = static_cast<float>(attrs.beta);
  with_unary(attrs.kind, [&]<Unary kKind>() HWY_ATTR {
    for_elements(
        count, dx,
        [=](auto d, auto g, auto v) HWY_ATTR { return gradient<kKind>(d, g, v, alpha, beta); }, dy,
        saved);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(UnaryValues);
HWY_EXPORT(UnaryGradients);

void unary_values(const UnaryAttrs& attrs, const float* x, std::int64_t count, float* y) {
  HWY_DYNAMIC_DISPATCH(UnaryValues)(attrs, x, count, y);
}

void unary_gradients(const UnaryAttrs& attrs, const float* dy, const float* saved,
                     std::int64_t count, float* dx) {
  HWY_DYNAMIC_DISPATCH(UnaryGradients)(attrs, dy, saved, count, dx);
}

}  // namespace linnet::cpu
#endif
