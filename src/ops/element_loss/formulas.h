// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <type_traits>

#include "base/host_device.h"
#include "ops/element_loss/element_loss.h"

namespace linnet {

// The formulas that the reference and all kernels share. NaN goes in and comes out.

/// e^x for x <= 0 by the C library; kernels pass their own for floats.
struct LibraryExp {
  static double exp_nonpositive(double x) { return ::exp(x); }
};

/// Whether a kernel computes the slope in f32. Most trainings have one of these losses, in loops
/// that become vector instructions; the others, a small part of a step, are computed in f64.
template <ElementLoss kKind>
inline constexpr bool kSlopeInFloat =
    kKind == ElementLoss::squared_error || kKind == ElementLoss::absolute_error ||
    kKind == ElementLoss::binary_cross_entropy;
template <ElementLoss kKind>
using SlopeReal = std::conditional_t<kSlopeInFloat<kKind>, float, double>;

namespace detail {
LINNET_HOST_DEVICE inline float magnitude(float x) { return ::fabsf(x); }
LINNET_HOST_DEVICE inline double magnitude(double x) { return ::fabs(x); }
LINNET_HOST_DEVICE inline float log_one_plus(float x) { return ::log1pf(x); }
LINNET_HOST_DEVICE inline double log_one_plus(double x) { return ::log1p(x); }
/// log(1 + exp(x)), without overflow.
LINNET_HOST_DEVICE inline double softplus(double x) {
  return (x > 0 ? x : 0) + ::log1p(::exp(-::fabs(x)));
}
LINNET_HOST_DEVICE inline double sigmoid(double x) { return 1 / (1 + ::exp(-x)); }
/// base^exponent for base in [0, 1] and exponent >= 0.
LINNET_HOST_DEVICE inline double power(double base, double exponent) {
  if (exponent == 0) return 1;
  if (exponent == 1) return base;
  if (exponent == 2) return base * base;
  return base <= 0 ? 0 : ::exp(exponent * ::log(base));
}
}  // namespace detail

/// f(y, t), of elements that are floats, or doubles in the reference.
template <ElementLoss kKind, class Exp, class T>
LINNET_HOST_DEVICE inline double element_loss(T output, T target, double parameter) {
  const auto y = static_cast<double>(output);
  const auto t = static_cast<double>(target);
  if constexpr (kKind == ElementLoss::squared_error) {
    const double d = y - t;
    return d * d;
  } else if constexpr (kKind == ElementLoss::absolute_error) {
    return ::fabs(y - t);
  } else if constexpr (kKind == ElementLoss::binary_cross_entropy) {
    const T top = output < 0 ? T{0} : output;  // keeps NaN
    const T rest = detail::log_one_plus(Exp::exp_nonpositive(-detail::magnitude(output)));
    return static_cast<double>(top) - y * t + static_cast<double>(rest);
  } else if constexpr (kKind == ElementLoss::huber) {
    const double d = ::fabs(y - t);
    return d <= parameter ? d * d / 2 : parameter * (d - parameter / 2);
  } else if constexpr (kKind == ElementLoss::hinge) {
    const double margin = 1 - y * t;
    return margin <= 0 ? 0 : margin;
  } else if constexpr (kKind == ElementLoss::cross_entropy) {
    return t == 0 ? 0 : -t * y;
  } else if constexpr (kKind == ElementLoss::kl_divergence) {
    return t <= 0 ? 0 : t * (::log(t) - y);
  } else if constexpr (kKind == ElementLoss::focal) {
    return t == 0 ? 0 : -t * detail::power(-::expm1(y), parameter) * y;
  } else if constexpr (kKind == ElementLoss::log_sigmoid) {
    return t == 0 ? 0 : t * detail::softplus(-y) * ::exp(-parameter * detail::softplus(y));
  } else if constexpr (kKind == ElementLoss::absolute) {
    return ::fabs(y);
  } else {
    return y * y;
  }
}

/// df/dy, in T: SlopeReal in kernels, double in the reference.
template <ElementLoss kKind, class Exp, class T>
LINNET_HOST_DEVICE inline T element_slope(T y, T t, double parameter) {
  if constexpr (kKind == ElementLoss::squared_error) {
    return 2 * (y - t);
  } else if constexpr (kKind == ElementLoss::absolute_error) {
    const T d = y - t;
    return d > 0 ? T{1} : d < 0 ? T{-1} : d;
  } else if constexpr (kKind == ElementLoss::binary_cross_entropy) {
    const T e = Exp::exp_nonpositive(-detail::magnitude(y));
    return (y < 0 ? e : T{1}) / (T{1} + e) - t;
  } else if constexpr (kKind == ElementLoss::huber) {
    const double d = y - t;
    return d > parameter ? parameter : d < -parameter ? -parameter : d;
  } else if constexpr (kKind == ElementLoss::hinge) {
    const double margin = 1 - y * t;
    return margin <= 0 ? 0 : margin > 0 ? -t : margin;
  } else if constexpr (kKind == ElementLoss::cross_entropy) {
    return -t;
  } else if constexpr (kKind == ElementLoss::kl_divergence) {
    return t <= 0 ? 0 : -t;
  } else if constexpr (kKind == ElementLoss::focal) {
    const double q = -::expm1(y);
    // Towards q = 0 the second term goes like q^parameter, whatever 1 / q does.
    const double other = q <= 0 ? 0 : parameter * detail::power(q, parameter) / q * ::exp(y) * y;
    return t == 0 ? 0 : -t * (detail::power(q, parameter) - other);
  } else if constexpr (kKind == ElementLoss::log_sigmoid) {
    const double slope =
        detail::sigmoid(-y) + parameter * detail::sigmoid(y) * detail::softplus(-y);
    return t == 0 ? 0 : -t * ::exp(-parameter * detail::softplus(y)) * slope;
  } else if constexpr (kKind == ElementLoss::absolute) {
    return y > 0 ? 1 : y < 0 ? -1 : y;
  } else {
    return 2 * y;
  }
}

/// Calls f.operator()<kKind>() for the kind: a kernel's inner loop knows it at compile time.
template <class F>
auto with_element_loss(ElementLoss kind, F&& f) {
  switch (kind) {
    case ElementLoss::squared_error: return f.template operator()<ElementLoss::squared_error>();
    case ElementLoss::absolute_error: return f.template operator()<ElementLoss::absolute_error>();
    case ElementLoss::binary_cross_entropy:
      return f.template operator()<ElementLoss::binary_cross_entropy>();
    case ElementLoss::huber: return f.template operator()<ElementLoss::huber>();
    case ElementLoss::hinge: return f.template operator()<ElementLoss::hinge>();
    case ElementLoss::cross_entropy: return f.template operator()<ElementLoss::cross_entropy>();
    case ElementLoss::kl_divergence: return f.template operator()<ElementLoss::kl_divergence>();
    case ElementLoss::focal: return f.template operator()<ElementLoss::focal>();
    case ElementLoss::log_sigmoid: return f.template operator()<ElementLoss::log_sigmoid>();
    case ElementLoss::absolute: return f.template operator()<ElementLoss::absolute>();
    case ElementLoss::square: break;
  }
  return f.template operator()<ElementLoss::square>();
}

}  // namespace linnet
