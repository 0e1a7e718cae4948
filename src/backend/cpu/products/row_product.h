// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace linnet::cpu {

/// Rows of `length` floats, `stride` floats apart, that are used soon.
struct FetchedRows {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t length = 0;
  std::int64_t stride = 0;
};

/// A sum of outer products of rows, which are read where they lie; on the calling thread alone.
/// Some hundred terms at a time, whose rows stay in the L2 cache.
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
  std::array<FetchedRows, 2> ahead = {};  ///< are brought into the cache meanwhile
};

/// Computes c[i][j] = (accumulate ? c[i][j] : 0) + sum over t of a[t][i] b[t][j], by fused
/// multiply-adds in the order of terms.
void row_product(const RowProduct& product, bool accumulate);

/// Returns whether rows from memory are multiplied faster in place than packed (panel_product.h):
/// always where 24 vectors of sums fit into registers, else for few rows of c.
bool row_product_pays(std::int64_t rows);

}  // namespace linnet::cpu
