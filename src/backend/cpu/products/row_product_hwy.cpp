// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/products/row_product_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "backend/cpu/products/row_product.h"

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
class LinesAhead {
 public:
  LinesAhead(const RowProduct& p, std::int64_t tiles) : rows_(p.ahead) {
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

/// Vectors of columns from `begin` on, of which the last one has as many as `used` says if kCut.
template <class D, int kCount, bool kCut>
struct Columns {
  using V = hn::Vec<D>;

  HWY_INLINE V load(const float* from, int v) const {
    const float* at = from + v * static_cast<std::int64_t>(hn::Lanes(D()));
    if (kCut && v == kCount - 1) return hn::MaskedLoad(used, D(), at);
    return hn::LoadU(D(), at);
  }
  HWY_INLINE void store(V x, float* to, int v) const {
    float* at = to + v * static_cast<std::int64_t>(hn::Lanes(D()));
    if (kCut && v == kCount - 1) return hn::BlendedStore(x, used, D(), at);
    hn::StoreU(x, D(), at);
  }

  std::int64_t begin;
  hn::Mask<D> used;
};

/// Rows [i0, i0 + kCount) of some columns.
template <int kCount, class D, int kVectors, bool kCut>
HWY_INLINE void product_tile(const RowProduct& p, std::int64_t i0,
                             const Columns<D, kVectors, kCut>& columns, bool accumulate,
                             LinesAhead& ahead) {
  using V = hn::Vec<D>;
  const float* a = p.a + i0;
  float* c = p.c + i0 * p.c_stride + columns.begin;
  V sums[kCount][kVectors];
  for (int i = 0; i < kCount; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      sums[i][v] = accumulate ? columns.load(c + i * p.c_stride, v) : hn::Zero(D());
    }
  }
  const std::int64_t offset = p.b_offset + columns.begin;
  for (std::int64_t t = 0; t < p.terms;) {
    ahead.fetch();
    for (const std::int64_t end = std::min(t + kStep, p.terms); t < end; ++t, a += p.a_stride) {
      const float* b = p.b[t] + offset;
      V row[kVectors];
      for (int v = 0; v < kVectors; ++v) row[v] = columns.load(b, v);
      for (int i = 0; i < kCount; ++i) {
        const V factor = hn::Set(D(), a[i]);
        for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(factor, row[v], sums[i][v]);
      }
    }
  }
  for (int i = 0; i < kCount; ++i) {
    for (int v = 0; v < kVectors; ++v) columns.store(sums[i][v], c + i * p.c_stride, v);
  }
}

/// Rows from `i` on, kCount at a time, then half as many.
template <int kCount, class Part>
HWY_INLINE void product_rows(const RowProduct& p, std::int64_t i, const Part& columns,
                             bool accumulate, LinesAhead& ahead) {
  for (; i + kCount <= p.rows; i += kCount) {
    product_tile<kCount>(p, i, columns, accumulate, ahead);
  }
  if constexpr (kCount > 1) product_rows<kCount / 2>(p, i, columns, accumulate, ahead);
}

template <int kVectors, bool kCut = false, class D>
void product_columns(D d, const RowProduct& p, bool accumulate, LinesAhead& ahead,
                     std::int64_t& column) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t before = column + (kVectors - 1) * lanes;
  const Columns<D, kVectors, kCut> columns{
      column, hn::FirstN(d, static_cast<std::size_t>(std::min(p.columns - before, lanes)))};
  product_rows<kRows>(p, 0, columns, accumulate, ahead);
  column = std::min(before + lanes, p.columns);
}

void AddRowProduct(const RowProduct& p, bool accumulate) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  LinesAhead ahead(p, (p.columns + 3 * lanes - 1) / (3 * lanes) * ((p.rows + kRows - 1) / kRows));
  std::int64_t column = 0;
  const auto some = [&](auto vectors, auto cut) HWY_ATTR {
    product_columns<vectors.value, cut.value>(d, p, accumulate, ahead, column);
  };
  const auto next = [&](std::int64_t vectors, auto cut) HWY_ATTR {
    if (vectors == 1) return some(std::integral_constant<int, 1>(), cut);
    // Four become two and two.
    if (vectors == 2 || vectors == 4) return some(std::integral_constant<int, 2>(), cut);
    some(std::integral_constant<int, 3>(), cut);
  };
#if HWY_TARGET <= HWY_AVX3
  while (column < p.columns) {
    const std::int64_t left = p.columns - column;
    if (left % lanes == 0 || left > 4 * lanes) {
      next((left + lanes - 1) / lanes, std::false_type());
    } else {
      next((left + lanes - 1) / lanes, std::true_type());
    }
  }
#else
  while (p.columns - column >= lanes) next((p.columns - column) / lanes, std::false_type());
  const auto rest = [&](auto part)
                        HWY_ATTR { product_columns<1>(part, p, accumulate, ahead, column); };
  if (p.columns - column >= 4) rest(hn::CappedTag<float, 4>());
  while (column < p.columns) rest(hn::CappedTag<float, 1>());
#endif
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
