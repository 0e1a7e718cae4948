// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/row_product_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backend/cpu/row_product.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of sums in registers, of up to three vectors: 12 of 16 of them.
constexpr int kRows = 4;

/// Rows [i0, i0 + kRows) of kVectors vectors of columns from j0 on.
template <int kVectors, class D>
HWY_INLINE void product_tile(D d, const RowProduct& p, std::int64_t i0, std::int64_t j0,
                             bool accumulate) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float* a[kRows];  // after the last row it is read again
  for (int i = 0; i < kRows; ++i) a[i] = p.a + std::min(i0 + i, p.rows - 1);
  float* c = p.c + i0 * p.c_stride + j0;
  const int rows = static_cast<int>(std::min<std::int64_t>(kRows, p.rows - i0));
  V sums[kRows][kVectors];
  for (int i = 0; i < kRows; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      const bool begun = accumulate && i < rows;
      sums[i][v] = begun ? hn::LoadU(d, c + i * p.c_stride + v * lanes) : hn::Zero(d);
    }
  }
  for (std::int64_t t = 0, at = 0; t < p.terms; ++t, at += p.a_stride) {
    const float* b = p.b[t] + p.b_offset + j0;
    V row[kVectors];
    for (int v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, b + v * lanes);
    for (int i = 0; i < kRows; ++i) {
      const V factor = hn::Set(d, a[i][at]);
      for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(factor, row[v], sums[i][v]);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    if (i >= rows) break;
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[i][v], d, c + i * p.c_stride + v * lanes);
  }
}

template <int kVectors, class D>
void product_columns(D d, const RowProduct& p, bool accumulate, std::int64_t& column) {
  for (std::int64_t i = 0; i < p.rows; i += kRows) {
    product_tile<kVectors>(d, p, i, column, accumulate);
  }
  column += kVectors * static_cast<std::int64_t>(hn::Lanes(d));
}

void AddRowProduct(const RowProduct& p, bool accumulate) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t column = 0;
  while (p.columns - column >= lanes) {
    const std::int64_t vectors = (p.columns - column) / lanes;
    // Four become two and two.
    if (vectors == 1) {
      product_columns<1>(d, p, accumulate, column);
    } else if (vectors == 2 || vectors == 4) {
      product_columns<2>(d, p, accumulate, column);
    } else {
      product_columns<3>(d, p, accumulate, column);
    }
  }
  if (p.columns - column >= 8) product_columns<1>(hn::CappedTag<float, 8>(), p, accumulate, column);
  if (p.columns - column >= 4) product_columns<1>(hn::CappedTag<float, 4>(), p, accumulate, column);
  while (column < p.columns) {
    product_columns<1>(hn::CappedTag<float, 1>(), p, accumulate, column);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(AddRowProduct);

void row_product(const RowProduct& product, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(AddRowProduct)(product, accumulate);
}

}  // namespace linnet::cpu
#endif
