// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.h"
#include "ops/row_loss/row_loss.h"

namespace linnet {

// One row of a row loss, in double; T is the elements' type: double in the reference. A thread
// takes a row: rows are as long as there are classes.

namespace detail {
inline constexpr double kCosineEpsilon = 1e-12;

/// Returns the first place where t is not 0 (NaN is not), or n.
template <class T>
LINNET_HOST_DEVICE inline std::int64_t first_target(const T* t, std::int64_t n) {
  std::int64_t k = 0;
  while (k < n && t[k] == 0) ++k;
  return k;
}

struct Products {
  double yt = 0;
  double yy = kCosineEpsilon;
  double tt = kCosineEpsilon;
};
template <class T>
LINNET_HOST_DEVICE inline Products products(const T* y, const T* t, std::int64_t n) {
  Products sums;
  for (std::int64_t c = 0; c < n; ++c) {
    const double a = y[c];
    const double b = t[c];
    sums.yt += a * b;
    sums.yy += a * a;
    sums.tt += b * b;
  }
  return sums;
}
}  // namespace detail

template <class T>
LINNET_HOST_DEVICE inline double row_loss(RowLoss kind, const T* y, const T* t, std::int64_t n) {
  if (kind == RowLoss::cosine) {
    const detail::Products p = detail::products(y, t, n);
    return 1 - p.yt / ::sqrt(p.yy * p.tt);
  }
  const std::int64_t k = detail::first_target(t, n);
  if (k == n) return 0;
  double sum = 0;
  for (std::int64_t c = 0; c < n; ++c) {
    const double margin = 1 - static_cast<double>(y[k]) + static_cast<double>(y[c]);
    if (c != k && !(margin <= 0)) sum += margin;
  }
  return static_cast<double>(t[k]) * sum / static_cast<double>(n);
}

/// Computes dy = factor * the slope.
template <class T>
LINNET_HOST_DEVICE inline void row_slope(RowLoss kind, double factor, const T* y, const T* t,
                                         std::int64_t n, T* dy) {
  if (kind == RowLoss::cosine) {
    const detail::Products p = detail::products(y, t, n);
    const double scale = factor / ::sqrt(p.yy * p.tt);
    for (std::int64_t c = 0; c < n; ++c) {
      dy[c] = static_cast<T>(scale *
                             (p.yt / p.yy * static_cast<double>(y[c]) - static_cast<double>(t[c])));
    }
    return;
  }
  const std::int64_t k = detail::first_target(t, n);
  const double each = k == n ? 0 : factor * static_cast<double>(t[k]) / static_cast<double>(n);
  double of_target = 0;
  for (std::int64_t c = 0; c < n; ++c) {
    const double margin = k == n ? 0 : 1 - static_cast<double>(y[k]) + static_cast<double>(y[c]);
    // A margin that is NaN takes its NaN along.
    const double slope = c == k || margin <= 0 ? 0 : margin > 0 ? each : margin;
    dy[c] = static_cast<T>(slope);
    of_target -= slope;
  }
  if (k < n) dy[k] = static_cast<T>(of_target);
}

}  // namespace linnet
