// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet::cpu {

// Rows of n >= 1 elements that follow each other. A NaN makes its row NaN. x and y may be the same,
// as dx and one of its operands.

/// Computes y = softmax(x) of one row; returns log(sum(exp(x))).
float softmax_row(const float* x, std::int64_t n, float* y);
/// The largest element of a row, and the sum of e^(x - the largest).
struct RowPowers {
  float top;
  float sum;
};
/// Computes y = exp(x - the largest of x) of one row.
RowPowers power_row(const float* x, std::int64_t n, float* y);

void softmax_rows(const float* x, std::int64_t rows, std::int64_t n, float* y);
/// dx = y (dy - the row's sum of dy y)
void softmax_rows_gradient(const float* dy, const float* y, std::int64_t rows, std::int64_t n,
                           float* dx);
/// y = x - log(sum(exp(x)))
void log_softmax_rows(const float* x, std::int64_t rows, std::int64_t n, float* y);
/// dx = dy - exp(y) times the row's sum of dy
void log_softmax_rows_gradient(const float* dy, const float* y, std::int64_t rows, std::int64_t n,
                               float* dx);

}  // namespace linnet::cpu
