// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/products/pack_panels_hwy.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backend/cpu/products/panel_product.h"
#include "backend/cpu/products/panel_vectors_hwy.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

std::size_t PanelFloats(std::int64_t terms, std::int64_t columns) {
  return static_cast<std::size_t>(terms * PanelWidths(columns).columns());
}

/// Four terms of four columns become four rows.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void transpose4(const float* from, std::int64_t column_stride, std::int64_t width,
                           float* to) {
  for (int i = 0; i < 16; ++i) to[i / 4 * width + i % 4] = from[i % 4 * column_stride + i / 4];
}
#else
HWY_INLINE void transpose4(const float* from, std::int64_t column_stride, std::int64_t width,
                           float* to) {
  const hn::Full128<float> d;
  const hn::Full128<double> pairs;
  const auto a = hn::LoadU(d, from);
  const auto b = hn::LoadU(d, from + column_stride);
  const auto c = hn::LoadU(d, from + 2 * column_stride);
  const auto e = hn::LoadU(d, from + 3 * column_stride);
  const auto ab01 = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
  const auto ab23 = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
  const auto ce01 = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
  const auto ce23 = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab01, ce01)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab01, ce01)), d, to + width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab23, ce23)), d, to + 2 * width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab23, ce23)), d, to + 3 * width);
}
#endif

/// Terms of columns that lie one after the other become rows of a panel, a line of the cache of
/// each column at a time.
void pack_columns(const float* from, std::int64_t column_stride, std::int64_t terms,
                  std::int64_t columns, std::int64_t width, float* to) {
  for (std::int64_t t0 = 0; t0 < terms; t0 += kLine) {
    const std::int64_t t1 = std::min(t0 + kLine, terms);
    const std::int64_t fours = t1 - t0 == kLine ? columns / 4 * 4 : 0;
    for (std::int64_t j = 0; j < fours; j += 4) {
      const float* column = from + j * column_stride;
      for (int i = 0; i < 4; ++i) hwy::Prefetch(column + i * column_stride + t0 + 4 * kLine);
      for (std::int64_t t = t0; t < t1; t += 4) {
        transpose4(column + t, column_stride, width, to + t * width + j);
      }
    }
    for (std::int64_t j = fours; j < columns; ++j) {
      const float* column = from + j * column_stride;
      for (std::int64_t t = t0; t < t1; ++t) to[t * width + j] = column[t];
    }
    for (std::int64_t t = t0; t < t1; ++t) {
      std::fill(to + t * width + columns, to + (t + 1) * width, 0.0F);
    }
  }
}

void PackPanels(const StridedMatrix& b, std::int64_t begin, std::int64_t end, std::int64_t terms,
                std::int64_t columns, float* panels) {
  PanelWidths widths(columns);
  std::int64_t column = 0;
  while (const PanelWidth panel = widths.next()) {
    const std::int64_t width = panel.columns();
    const std::int64_t used = std::min(width, columns - column);
    float* to = panels + column * terms + begin * width;
    const float* from = b.data + column * b.column_stride;
    column += width;
    if (b.term_stride == 1 && b.column_stride != 1) {
      pack_columns(from, b.column_stride, end - begin, used, width, to);
      continue;
    }
    for (std::int64_t t = begin; t < end; ++t, from += b.term_stride, to += width) {
      if (b.column_stride == 1 && used == width) {
        copy_panel_row(from, panel, to);
        continue;
      }
      for (std::int64_t j = 0; j < used; ++j) to[j] = from[j * b.column_stride];
      std::fill(to + used, to + width, 0.0F);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(PanelFloats);
HWY_EXPORT(PackPanels);

std::size_t panel_floats(std::int64_t terms, std::int64_t columns) {
  return HWY_DYNAMIC_DISPATCH(PanelFloats)(terms, columns);
}

void pack_panels(const StridedMatrix& b, std::int64_t begin, std::int64_t end, std::int64_t terms,
                 std::int64_t columns, float* panels) {
  HWY_DYNAMIC_DISPATCH(PackPanels)(b, begin, end, terms, columns, panels);
}

}  // namespace linnet::cpu
#endif
