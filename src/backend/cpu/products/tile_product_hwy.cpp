// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/products/tile_product_hwy.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backend/cpu/products/panel_product.h"
#include "backend/cpu/products/panel_vectors_hwy.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

/// Rows from `first` on of a matrix of `rows`. After the last one it is read again, and not
/// written.
struct StridedPlaces {
  HWY_INLINE float* at(int i) const { return data + std::min(first + i, rows - 1) * stride; }
  HWY_INLINE bool has(int i) const { return first + i < rows; }
  float* data;
  std::int64_t first, rows, stride;
};

/// Fetches the sums that the next tile begins with, while this one is summed.
HWY_INLINE void prefetch(const StridedPlaces& next, std::int64_t columns) {
  for (int i = 0; i < kTileRows; ++i) {
    for (std::int64_t j = 0; j < columns; j += kLine) hwy::Prefetch(next.at(i) + j);
  }
}

template <int kRows>
struct TileAddress {
  template <class D>
  HWY_INLINE hn::Vec<D> factor(int row, std::int64_t term) const {
    return hn::Set(D(), tile[term * kRows + row]);
  }
  const float* tile;
};

template <class Kind>
struct TilePass {
  using D = typename Kind::Tag;
  static constexpr int kVectors = Kind::kVectors;

  void operator()(const TileShape& shape, const float* tiles, const float* panel,
                  std::int64_t columns, bool accumulate, float* c, std::int64_t c_stride) const {
    using Row = Vectors<D, kVectors>;
    const std::int64_t width = kVectors * lanes<D>();
    for (std::int64_t i0 = 0; i0 < shape.rows; i0 += kTileRows) {
      const StridedPlaces places{c, i0, shape.rows, c_stride};
      auto sums = Sums<kTileRows, D, kVectors>::filled(Row::zero());
      if (accumulate) sums = Sums<kTileRows, D, kVectors>::load(places, columns);
      prefetch({c, i0 + kTileRows, shape.rows, c_stride}, columns);
      const TileAddress<kTileRows> from{tiles + i0 * shape.terms};
      const float* b = panel;
      for (std::int64_t t = 0; t < shape.terms; ++t, b += width) {
        sums.add(from, t, Row::load(b));
      }
      sums.store(places, columns);
    }
  }
};

std::size_t TileFloats(std::int64_t terms, std::int64_t rows) {
  return static_cast<std::size_t>(terms * ((rows + kTileRows - 1) / kTileRows) * kTileRows);
}

/// The number of terms by which rows are fetched ahead, as their first use waits for memory.
constexpr std::int64_t kTermsAhead = 8;

void PackTiles(const float* const* a, std::int64_t terms, std::int64_t rows, float* tiles) {
  // Whole vectors, whose ends the next term writes again; from all tiles but the last, which have
  // something after them to read.
  const int vectors = static_cast<int>((kTileRows + lanes() - 1) / lanes());
  const std::int64_t whole = vectors * lanes() <= 2 * kTileRows ? rows / kTileRows - 1 : 0;
  for (std::int64_t t = 0; t < terms; ++t) {
    const float* next = a[std::min(t + kTermsAhead, terms - 1)];
    for (std::int64_t i = 0; i < rows; i += kLine) hwy::Prefetch(next + i);
    float* to = tiles + t * kTileRows;
    std::int64_t i = 0;
    if (t + 1 < terms) {
      for (; i < whole * kTileRows; i += kTileRows, to += terms * kTileRows) {
        copy_vectors(a[t] + i, vectors, to);
      }
    }
    for (; i < rows; i += kTileRows, to += terms * kTileRows) {
      const std::int64_t used = std::min<std::int64_t>(kTileRows, rows - i);
      std::copy_n(a[t] + i, used, to);
      std::fill(to + used, to + kTileRows, 0.0F);
    }
  }
}

void PackRowPanels(const float* const* b, std::int64_t offset, std::int64_t terms,
                   std::int64_t columns, float* panels) {
  for (std::int64_t t = 0; t < terms; ++t) {
    const float* next = b[std::min(t + kTermsAhead, terms - 1)] + offset;
    PanelWidths widths(columns, false);
    std::int64_t column = 0;
    while (const PanelWidth panel = widths.next()) {
      const std::int64_t width = panel.columns();
      const std::int64_t used = std::min(width, columns - column);
      const float* from = b[t] + offset + column;
      float* to = panels + column * terms + t * width;
      for (std::int64_t i = 0; i < used; i += kLine) hwy::Prefetch(next + column + i);
      if (used == width) {
        copy_panel_row(from, panel, to);
      } else {
        std::copy_n(from, used, to);
        std::fill(to + used, to + width, 0.0F);
      }
      column += width;
    }
  }
}

void TileProduct(const TileShape& shape, const float* tiles, const float* panels, bool accumulate,
                 float* c, std::int64_t c_stride) {
  PanelWidths widths(shape.columns, false);
  std::int64_t column = 0;
  while (const PanelWidth width = widths.next()) {
    const std::int64_t used = std::min(width.columns(), shape.columns - column);
    for_width<2>(width, [&](auto kind) {
      TilePass<decltype(kind)>()(shape, tiles, panels + column * shape.terms, used, accumulate,
                                 c + column, c_stride);
    });
    column += width.columns();
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(TileFloats);
HWY_EXPORT(PackTiles);
HWY_EXPORT(PackRowPanels);
HWY_EXPORT(TileProduct);

std::size_t tile_floats(std::int64_t terms, std::int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(TileFloats)(terms, rows);
}

void pack_tiles(const float* const* a, std::int64_t terms, std::int64_t rows, float* tiles) {
  HWY_DYNAMIC_DISPATCH(PackTiles)(a, terms, rows, tiles);
}

void pack_row_panels(const float* const* b, std::int64_t offset, std::int64_t terms,
                     std::int64_t columns, float* panels) {
  HWY_DYNAMIC_DISPATCH(PackRowPanels)(b, offset, terms, columns, panels);
}

void tile_product(const TileShape& shape, const float* tiles, const float* panels, bool accumulate,
                  float* c, std::int64_t c_stride) {
  HWY_DYNAMIC_DISPATCH(TileProduct)(shape, tiles, panels, accumulate, c, c_stride);
}

}  // namespace linnet::cpu
#endif
