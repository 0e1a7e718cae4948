// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cpu/products/panel_product.h"
#include "core/align.h"
#include "fusions/attention/attention_cpu.h"
#include "ops/dropout/dropout_cpu.h"

namespace linnet::cpu {

ColumnBlocks::ColumnBlocks(std::int64_t terms, std::int64_t columns, Pieces& pieces)
    : terms_(terms),
      columns_(columns),
      block_floats_(static_cast<std::int64_t>(align_up(panel_floats(terms, kColumns)))),
      panels_(pieces.take(whole(columns) / kColumns * block_floats_)) {}

void ColumnBlocks::pack(const float* from, std::int64_t row) const {
  for (std::int64_t first = 0; first < columns_; first += kColumns) {
    pack_panels({from + first * row, 1, row}, 0, terms_, terms_,
                std::min(kColumns, columns_ - first), panels_ + first / kColumns * block_floats_);
  }
}

void ColumnBlocks::multiply(const float* const* a, std::int64_t rows, std::int64_t begin,
                            std::int64_t end, float* products, std::int64_t stride,
                            float** to) const {
  for (std::int64_t first = begin; first < end; first += kColumns) {
    for (std::int64_t i = 0; i < rows; ++i) to[i] = products + i * stride + first - begin;
    panel_product({a, 1, terms_, 0}, rows, panels_ + first / kColumns * block_floats_,
                  std::min(kColumns, columns_ - first), nullptr, to);
  }
}

void WeightsDropout::drop(std::int64_t i, std::int64_t count, float* weights) const {
  drop_elements(mask_, first_ + static_cast<std::uint64_t>(i * keys_), count, weights, weights);
}

void WeightsDropout::factors(std::int64_t key, std::int64_t keys, std::int64_t query,
                             std::int64_t queries, float* rows, float* to,
                             std::int64_t stride) const {
  float* ones = rows + kAtOnce * keys;
  std::fill_n(ones, keys, 1.0F);
  for (std::int64_t begin = 0; begin < queries; begin += kAtOnce) {
    const std::int64_t count = std::min(kAtOnce, queries - begin);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t element = (query + begin + i) * keys_ + key;
      drop_elements(mask_, first_ + static_cast<std::uint64_t>(element), keys, ones,
                    rows + i * keys);
    }
    for (std::int64_t j = 0; j < keys; ++j) {
      for (std::int64_t i = 0; i < count; ++i) to[j * stride + begin + i] = rows[i * keys + j];
    }
  }
}

void scale_rows(const float* from, std::int64_t row, std::int64_t rows, std::int64_t width,
                float factor, float* to) {
  for (std::int64_t i = 0; i < rows; ++i, from += row, to += width) {
    for (std::int64_t t = 0; t < width; ++t) to[t] = factor * from[t];
  }
}

std::int64_t attention_parts(const AttentionDims& e, std::int64_t rows, std::int64_t at_once) {
  constexpr std::int64_t kManyMatrices = 16;
  const std::int64_t matrices = std::max<std::int64_t>(e.matrices(), 1);
  const std::int64_t blocks = (rows + at_once - 1) / at_once;
  return std::clamp<std::int64_t>((kManyMatrices + matrices - 1) / matrices, 1,
                                  std::max<std::int64_t>(blocks, 1));
}

}  // namespace linnet::cpu
