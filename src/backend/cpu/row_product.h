// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet::cpu {

/// A sum of outer products of short rows, which are read where they lie; on the calling thread
/// alone. For few rows of c: panel_product.h's tiles spare more reading, but both operands are
/// packed.
struct RowProduct {
  std::int64_t terms = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const float* a = nullptr;  ///< (terms, rows), `a_stride` floats from term to term
  std::int64_t a_stride = 0;
  const float* const* b = nullptr;  ///< row t of (terms, columns) lies at b[t] + b_offset
  std::int64_t b_offset = 0;
  float* c = nullptr;  ///< (rows, columns), `c_stride` floats from row to row
  std::int64_t c_stride = 0;
};

/// Computes c[i][j] = (accumulate ? c[i][j] : 0) + sum over t of a[t][i] b[t][j], by fused
/// multiply-adds in the order of terms.
void row_product(const RowProduct& product, bool accumulate);

}  // namespace linnet::cpu
