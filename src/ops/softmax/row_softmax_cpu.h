// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "backend/cpu/exponential.h"

namespace linnet::cpu {

/// Returns the largest of n >= 1 elements; a NaN among them is found by exp_shifted.
inline float row_max(const float* x, std::int64_t n) {
  float top = x[0];
  for (std::int64_t i = 1; i < n; ++i) top = x[i] > top ? x[i] : top;
  return top;
}

/// Computes y = exp(x - top); returns the sum, in a fixed order. x and y may be the same.
inline float exp_shifted(const float* x, std::int64_t n, float top, float* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = exp_nonpositive(x[i] - top);
  float sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += y[i];
  return sum;
}

/// Computes y = softmax(x) of one row; returns log(sum(exp(x))). x and y may be the same.
inline float softmax_row(const float* x, std::int64_t n, float* y) {
  const float top = row_max(x, n);
  const float sum = exp_shifted(x, n, top, y);
  const float factor = 1.0F / sum;
  for (std::int64_t i = 0; i < n; ++i) y[i] *= factor;
  return top + std::log(sum);
}

}  // namespace linnet::cpu
