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

/// Rows of sums in registers, of up to three vectors: 12 of 16 of them, or 24 of 32.
constexpr int kRows = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 8 : 4;
/// Terms between which lines are fetched.
constexpr std::int64_t kStep = 4;
/// Floats of a line of the cache.
constexpr std::int64_t kLine = 16;

/// The lines of the rows that a product fetches, handed out evenly over its tiles.
class Ahead {
 public:
  Ahead(const RowProduct& p, std::int64_t tiles) : rows_(p.ahead) {
    std::int64_t lines = 0;
    for (const FetchedRows& of : rows_) lines += of.rows * ((of.length + kLine - 1) / kLine);
    const std::int64_t steps = std::max<std::int64_t>(tiles * (p.terms / kStep), 1);
    at_each_step_ = (lines + steps - 1) / steps;
  }
  HWY_INLINE void fetch() {
    for (std::int64_t i = 0; i < at_each_step_; ++i) {
      if (at_ >= end_ && !next_row()) return;
      __builtin_prefetch(at_, 0, 2);
      at_ += kLine;
    }
  }

 private:
  bool next_row() {
    for (FetchedRows& of : rows_) {
      if (of.rows == 0) continue;
      at_ = of.data;
      end_ = at_ + of.length;
      of.data += of.stride;
      --of.rows;
      return true;
    }
    at_each_step_ = 0;
    return false;
  }

  std::array<FetchedRows, 2> rows_;
  std::int64_t at_each_step_;
  const float* at_ = nullptr;
  const float* end_ = nullptr;
};

/// Rows [i0, i0 + kCount) of kVectors vectors of columns from j0 on.
template <int kCount, int kVectors, class D>
HWY_INLINE void product_tile(D d, const RowProduct& p, std::int64_t i0, std::int64_t j0,
                             bool accumulate, Ahead& ahead) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float* a = p.a + i0;
  float* c = p.c + i0 * p.c_stride + j0;
  V sums[kCount][kVectors];
  for (int i = 0; i < kCount; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      sums[i][v] = accumulate ? hn::LoadU(d, c + i * p.c_stride + v * lanes) : hn::Zero(d);
    }
  }
  const std::int64_t offset = p.b_offset + j0;
  for (std::int64_t t = 0; t < p.terms;) {
    ahead.fetch();
    for (const std::int64_t end = std::min(t + kStep, p.terms); t < end; ++t, a += p.a_stride) {
      const float* b = p.b[t] + offset;
      V row[kVectors];
      for (int v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, b + v * lanes);
      for (int i = 0; i < kCount; ++i) {
        const V factor = hn::Set(d, a[i]);
        for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(factor, row[v], sums[i][v]);
      }
    }
  }
  for (int i = 0; i < kCount; ++i) {
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[i][v], d, c + i * p.c_stride + v * lanes);
  }
}

/// Rows from `i` on, kCount at a time, then half as many.
template <int kCount, int kVectors, class D>
HWY_INLINE void product_rows(D d, const RowProduct& p, std::int64_t i, std::int64_t column,
                             bool accumulate, Ahead& ahead) {
  for (; i + kCount <= p.rows; i += kCount) {
    product_tile<kCount, kVectors>(d, p, i, column, accumulate, ahead);
  }
  if constexpr (kCount > 1) {
    product_rows<kCount / 2, kVectors>(d, p, i, column, accumulate, ahead);
  }
}

template <int kVectors, class D>
void product_columns(D d, const RowProduct& p, bool accumulate, Ahead& ahead,
                     std::int64_t& column) {
  product_rows<kRows, kVectors>(d, p, 0, column, accumulate, ahead);
  column += kVectors * static_cast<std::int64_t>(hn::Lanes(d));
}

void AddRowProduct(const RowProduct& p, bool accumulate) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  Ahead ahead(p, (p.columns + 3 * lanes - 1) / (3 * lanes) * ((p.rows + kRows - 1) / kRows));
  std::int64_t column = 0;
  while (p.columns - column >= lanes) {
    const std::int64_t vectors = (p.columns - column) / lanes;
    // Four become two and two.
    if (vectors == 1) {
      product_columns<1>(d, p, accumulate, ahead, column);
    } else if (vectors == 2 || vectors == 4) {
      product_columns<2>(d, p, accumulate, ahead, column);
    } else {
      product_columns<3>(d, p, accumulate, ahead, column);
    }
  }
  const auto rest = [&](auto part) HWY_ATTR {
    product_columns<1>(part, p, accumulate, ahead, column);
  };
  if (p.columns - column >= 8) rest(hn::CappedTag<float, 8>());
  if (p.columns - column >= 4) rest(hn::CappedTag<float, 4>());
  while (column < p.columns) rest(hn::CappedTag<float, 1>());
}

bool RowProductPays(std::int64_t rows) {
  constexpr std::int64_t kFewRows = 32;
  return kRows > 4 || rows <= kFewRows;
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(AddRowProduct);
HWY_EXPORT(RowProductPays);

void row_product(const RowProduct& product, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(AddRowProduct)(product, accumulate);
}

bool row_product_pays(std::int64_t rows) { return HWY_DYNAMIC_DISPATCH(RowProductPays)(rows); }

}  // namespace linnet::cpu
#endif
