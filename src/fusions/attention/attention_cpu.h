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

/// The dropout of one matrix's weights.
class WeightsDropout {
 public:
  WeightsDropout(const AttentionDims& e, const AttentionAttrs& attrs, const StepInfo& step,
                 std::int64_t matrix)
      : drops_(attrs.dropout > 0),
        mask_(dropout_mask(dropout_of(attrs), step)),
        first_(e.weight(step, matrix, 0)),
        keys_(e.keys) {}

  bool drops() const { return drops_; }
  /// Drops the weights of query i and keys from 0 on.
  void drop(std::int64_t i, std::int64_t count, float* weights) const;
  /// Writes the factors of keys [key, key + keys) and queries [query, query + queries), a row for
  /// each key, `stride` floats apart. `rows`: floats for kAtOnce + 1 rows of keys.
  void factors(std::int64_t key, std::int64_t keys, std::int64_t query, std::int64_t queries,
               float* rows, float* to, std::int64_t stride) const;
  /// Queries whose factors are made before they are turned round.
  static constexpr std::int64_t kAtOnce = 16;

 private:
  bool drops_;
  DropoutMask mask_;
  std::uint64_t first_;
  std::int64_t keys_;
};

/// Returns the number of parts into which each matrix's rows are cut, `at_once` together: few
/// matrices are cut, so that no processor is left without one. (Each part packs the columns again.)
std::int64_t attention_parts(const AttentionDims& e, std::int64_t rows, std::int64_t at_once);

/// Writes rows of `width` floats, `row` floats apart, times a factor one after the other.
void scale_rows(const float* from, std::int64_t row, std::int64_t rows, std::int64_t width,
                float factor, float* to);
/// Computes p = exp(weights - sums), weights = factors p and slopes = p (factors slopes - dots) of
/// n elements; factors: null for ones.
void attention_slopes(const float* sums, const float* dots, const float* factors, std::int64_t n,
                      float* weights, float* slopes);
/// Returns the sum of a[i] b[i] of n elements.
float attention_dot(const float* a, const float* b, std::int64_t n);

}  // namespace linnet::cpu
