// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cpu/pieces.h"
#include "fusions/attention/attention.h"

namespace linnet::cpu {

/// The rows of one operand as columns of the panels of a product, some of them together: what a
/// causal attention does not see is left out.
class ColumnBlocks {
 public:
  /// Columns that stand together.
  static constexpr std::int64_t kColumns = 64;

  /// Takes memory for `columns` columns of `terms` each.
  ColumnBlocks(std::int64_t terms, std::int64_t columns, Pieces& pieces);

  /// Returns `columns` and what fills their last block.
  static std::int64_t whole(std::int64_t columns) {
    return (columns + kColumns - 1) / kColumns * kColumns;
  }

  /// Packs rows that are `row` floats apart, one for each column.
  void pack(const float* from, std::int64_t row) const;

  /// Computes products[i * stride + j] = the sum over t of a[i][t] times term t of column begin +
  /// j, for `rows` rows and the whole blocks of columns of [begin, end); `begin` begins one. `to`
  /// has room for `rows` addresses.
  void multiply(const float* const* a, std::int64_t rows, std::int64_t begin, std::int64_t end,
                float* products, std::int64_t stride, float** to) const;

 private:
  std::int64_t terms_;
  std::int64_t columns_;
  std::int64_t block_floats_;
  float* panels_;
};

/// Floats of the weights that a task computes at once, so that they stay in the cache.
inline constexpr std::int64_t kAttentionFloats = 32768;
/// Rows of a tile of the products.
inline constexpr std::int64_t kAttentionTile = 12;

/// Returns the number of parts into which each matrix's rows are cut, `at_once` together: few
/// matrices are cut, so that no processor is left without one. (Each part packs the columns again.)
std::int64_t attention_parts(const AttentionDims& e, std::int64_t rows, std::int64_t at_once);

/// Computes weights = exp(weights - sums) and slopes = weights (slopes - dots) of n elements.
void attention_slopes(const float* sums, const float* dots, std::int64_t n, float* weights,
                      float* slopes);
/// Returns the sum of a[i] b[i] of n elements.
float attention_dot(const float* a, const float* b, std::int64_t n);

}  // namespace linnet::cpu
