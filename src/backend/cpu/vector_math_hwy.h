// SPDX-License-Identifier: Apache-2.0
// Included once per instruction set, after hwy/foreach_target.h, by sources that Highway compiles
// so: what #pragma once would prevent.
#if defined(LINNET_VECTOR_MATH_HWY_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LINNET_VECTOR_MATH_HWY_H
#undef LINNET_VECTOR_MATH_HWY_H
#else
#define LINNET_VECTOR_MATH_HWY_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Functions of f32 vectors, without a branch or a call. A lane's result depends on that lane
/// alone. NaN stays NaN. Errors are in units in the last place of the exact result, on every
/// instruction set (vector_math_test.cpp measures them over all floats); results below the smallest
/// normal number are 0 where that is said. Coefficients are minimax fits of the function that is
/// named beside them.
namespace vm {

/// x within [low, high]. NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V clipped(D d, V x, float low, float high) {
  const V bottom = hn::Set(d, low);
  const V top = hn::Set(d, high);
#if HWY_TARGET != HWY_SCALAR && HWY_ARCH_X86
  // x86 returns the second operand where one is NaN; on ARM64 Highway returns the number.
  return hn::Max(bottom, hn::Min(top, x));
#else
  const V above = hn::IfThenElse(hn::Lt(x, bottom), bottom, x);
  return hn::IfThenElse(hn::Gt(above, top), top, above);
#endif
}

/// The polynomial in x of these coefficients, that of the highest power first: pairs of terms side
/// by side, then Horner's rule in x^2, which waits half as long as in x.
template <class D, class V, std::size_t kTerms>
HWY_INLINE V polynomial(D d, V x, const float (&terms)[kTerms]) {
  const V square = hn::Mul(x, x);
  std::size_t next = kTerms % 2;
  V sum = next == 1 ? hn::Set(d, terms[0]) : hn::Zero(d);
  for (; next < kTerms; next += 2) {
    const V pair = hn::MulAdd(x, hn::Set(d, terms[next]), hn::Set(d, terms[next + 1]));
    sum = next == 0 ? pair : hn::MulAdd(sum, square, pair);
  }
  return sum;
}

/// x = n ln 2 + r, |r| <= ln 2 / 2, by Cody and Waite's two steps: e^r - 1, and 2^(n - 1), which is
/// 0 for n = -126. For n from -126 to 128.
template <class V>
struct Exponential {
  V rest;
  V half_power;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE Exponential<V> reduced(D d, V x) {
  const hn::RebindToSigned<D> integers;
  const V round = hn::Set(d, 12582912.0F);  // 1.5 * 2^23: adding it rounds to a whole number
  const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504F), round);
  const V n = hn::Sub(shifted, round);
  const V r =
      hn::MulAdd(n, hn::Set(d, 2.12194440e-4F), hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x));
  // (e^r - 1 - r) / r^2
  const V p =
      polynomial(d, r,
                 {1.38825164e-3F, 8.36654713e-3F, 4.16672007e-2F, 1.66665434e-1F, 4.99999981e-1F});
  const auto biased = hn::Add(hn::BitCast(integers, shifted), hn::Set(integers, 126));
  return {hn::MulAdd(hn::Mul(p, r), r, r), hn::BitCast(d, hn::ShiftLeft<23>(biased))};
}

/// e^x: 1 unit; 0 below -87, infinity above 88.73.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  const Exponential<V> e = reduced(d, clipped(d, x, -87.33F, 89.0F));
  const V two = hn::Set(d, 2.0F);
  return hn::Mul(hn::MulAdd(e.rest, two, two), e.half_power);
}

/// e^x - 1: 2 units
template <class D, class V = hn::Vec<D>>
HWY_INLINE V expm1(D d, V x) {
  const Exponential<V> e = reduced(d, clipped(d, x, -18.0F, 89.0F));
  const V half = hn::MulAdd(e.half_power, e.rest, hn::Sub(e.half_power, hn::Set(d, 0.5F)));
  return hn::Add(half, half);
}

/// x times the logistic function of `argument`: 0, not NaN, where that is 0 and x is large.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V times_logistic(D d, V x, V argument) {
  return hn::Div(x, hn::Add(hn::Set(d, 1.0F), vm::exp(d, hn::Neg(argument))));
}
/// 1 / (1 + e^-x): 3 units; 0 below -88.73.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V logistic(D d, V x) {
  return times_logistic(d, hn::Set(d, 1.0F), x);
}

/// 3 units; 0.7 from 0.9 on, since slopes are 1 - tanh(x)^2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh(D d, V x) {
  const V size = clipped(d, hn::Abs(x), 0.0F, 10.0F);
  const V e = vm::expm1(d, hn::Add(size, size));
  const V two = hn::Set(d, 2.0F);
  const auto small = hn::Lt(size, hn::Set(d, 0.55F));
  const V part = hn::Div(hn::IfThenElse(small, e, two), hn::Add(e, two));
  const V rest = hn::Sub(hn::Set(d, 1.0F), part);
  return hn::CopySign(hn::IfThenElse(small, part, rest), x);
}

/// k ln 2 + log(1 + f), for f in [sqrt(1/2) - 1, sqrt(2) - 1].
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_of_parts(D d, V k, V f) {
  // (log(1 + f) - f) / f^2
  const V p =
      hn::MulAdd(polynomial(d, f,
                            {-7.63565613e-2F, 1.27633275e-1F, -1.31605823e-1F, 1.42015530e-1F,
                             -1.66232984e-1F, 2.00012334e-1F, -2.50008227e-1F, 3.33333317e-1F}),
                 f, hn::Set(d, -0.5F));
  const V log = hn::MulAdd(hn::Mul(f, f), p, f);
  return hn::MulAdd(k, hn::Set(d, 0.693359375F), hn::MulAdd(k, hn::Set(d, -2.12194440e-4F), log));
}

/// x = 2^k (1 + f), f as log_of_parts() wants it; for normal x above 0.
template <class V, class I>
struct Parts {
  I k;
  V f;
};
template <class D, class V = hn::Vec<D>, class I = hn::Vec<hn::RebindToSigned<D>>>
HWY_INLINE Parts<V, I> parts(D d, V x) {
  const hn::RebindToSigned<D> integers;
  const I bits = hn::BitCast(integers, x);
  const I k = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(integers, 0x3F3504F3)));
  const V significand = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(k)));
  return {k, hn::Sub(significand, hn::Set(d, 1.0F))};
}

/// `result`, a logarithm of x, where x is above 0 and finite; else what the logarithm of x is.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V with_limits(D d, V x, V result) {
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const V zero = hn::Zero(d);
  const V not_above = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity),
                                     hn::Set(d, std::numeric_limits<float>::quiet_NaN()));
  const V limited = hn::IfThenElse(hn::Lt(x, infinity), result, x);
  return hn::IfThenElse(hn::Le(x, zero), not_above, limited);
}

/// 1 unit
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log(D d, V x) {
  const auto tiny = hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min()));
  const V normal = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 8388608.0F)), x);
  const auto p = parts(d, normal);
  const V shift = hn::IfThenElseZero(tiny, hn::Set(d, -23.0F));
  return with_limits(d, x, log_of_parts(d, hn::Add(hn::ConvertTo(d, p.k), shift), p.f));
}

/// log(1 + x): 2 units
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log1p(D d, V x) {
  const hn::RebindToSigned<D> integers;
  const V one = hn::Set(d, 1.0F);
  const V sum = hn::Add(one, x);
  const auto p = parts(d, sum);
  const V lost = hn::Sub(x, hn::Sub(sum, one));  // when 1 + x was rounded
  const V power = hn::BitCast(d, hn::ShiftLeft<23>(hn::Sub(hn::Set(integers, 127), p.k)));
  const V scale = hn::IfThenElseZero(hn::Lt(sum, hn::Set(d, 1e8F)), power);
  const V f = hn::MulAdd(lost, scale, p.f);
  return with_limits(d, sum, log_of_parts(d, hn::ConvertTo(d, p.k), f));
}

/// log(1 + e^x): 3 units
template <class D, class V = hn::Vec<D>>
HWY_INLINE V softplus(D d, V x) {
  const V e = vm::exp(d, hn::Neg(hn::Abs(x)));
  // log(1 + e) / e for e in [0, 1]
  const V p = polynomial(d, e,
                         {-3.24402336e-3F, 1.98514542e-2F, -5.69595189e-2F, 1.06036533e-1F,
                          -1.53055916e-1F, 1.96759389e-1F, -2.49541336e-1F, 3.33299624e-1F,
                          -4.99999024e-1F, 9.99999995e-1F});
  return hn::MulAdd(e, p, hn::Max(x, hn::Zero(d)));
}

/// 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x: 6 units; exactly 1 or -1 from 4.1 on.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V erf(D d, V x) {
  const V within = clipped(d, x, -4.1F, 4.1F);
  const V z = hn::Mul(within, within);
  // erf(x) / x as a quotient, which is a little too large beyond 4
  const V above = polynomial(d, z,
                             {2.02593611e-6F, 2.84686822e-4F, 3.80807627e-3F, 5.28751803e-2F,
                              1.91548178e-1F, 1.12837914F});
  const V below = polynomial(d, z,
                             {3.78320487e-5F, 1.17070712e-3F, 1.50549158e-2F, 1.14558757e-1F,
                              5.03087828e-1F, 1.0F});
  return clipped(d, hn::Div(hn::Mul(within, above), below), -1.0F, 1.0F);
}

}  // namespace vm
}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#endif
