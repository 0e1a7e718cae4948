// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/products/gemm.h"

#include <algorithm>

#include "backend/cpu/products/panel_product.h"
#include "backend/cpu/products/whole_product.h"
#include "core/align.h"

namespace linnet::cpu {
namespace {

// A block of each operand that is packed, and of c, in the L2 cache.
constexpr std::int64_t kRows = 192;
constexpr std::int64_t kColumns = 256;
constexpr std::int64_t kTerms = 256;
/// Where a thread's scratch memory has the addresses of rows (at 0), a's tiles and b's panels.
struct PackedPlaces {
  explicit PackedPlaces(const GemmShape& s) : tiles(align_up(sizeof(float*) * kTerms)) {
    const std::int64_t terms = std::min(s.k, kTerms);
    panels = tiles + align_up(sizeof(float) * tile_floats(terms, std::min(s.m, kRows)));
    bytes = panels + align_up(sizeof(float) * panel_floats(terms, std::min(s.n, kColumns)));
  }

  std::size_t tiles;
  std::size_t panels;
  std::size_t bytes;
};

struct PackedBlocks {
  PackedBlocks(const PackedPlaces& places, std::byte* scratch)
      : lines(reinterpret_cast<const float**>(scratch)),
        tiles(reinterpret_cast<float*>(scratch + places.tiles)),
        panels(reinterpret_cast<float*>(scratch + places.panels)) {}
  const float** lines_of(const Matrix& m, std::int64_t begin, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) lines[i] = m.data + (begin + i) * m.stride;
    return lines;
  }

  const float** lines;
  float* tiles;
  float* panels;
};

/// Calls f(begin, size) for pieces of [0, total).
template <class F>
void in_pieces(std::int64_t total, std::int64_t size, F f) {
  for (std::int64_t begin = 0; begin < total; begin += size) {
    f(begin, std::min(size, total - begin));
  }
}

void sum_over_rows(const GemmShape& s, const Matrix& a, const Matrix& b, float* c,
                   std::int64_t c_stride, std::byte* scratch, bool accumulate) {
  const PackedBlocks packed(PackedPlaces(s), scratch);
  in_pieces(s.n, kColumns, [&](std::int64_t j, std::int64_t columns) {
    in_pieces(s.k, kTerms, [&](std::int64_t t, std::int64_t terms) {
      pack_row_panels(packed.lines_of(b, t, terms), j, terms, columns, packed.panels);
      in_pieces(s.m, kRows, [&](std::int64_t i, std::int64_t rows) {
        const Matrix part{a.data + i, a.stride, true};
        pack_tiles(packed.lines_of(part, t, terms), terms, rows, packed.tiles);
        tile_product({terms, rows, columns}, packed.tiles, packed.panels, accumulate || t > 0,
                     c + i * c_stride + j, c_stride);
      });
    });
  });
}

}  // namespace

std::size_t gemm_scratch_bytes(const GemmShape& s) {
  return std::max(PackedPlaces(s).bytes, whole_product_bytes(s));
}

void gemm(const GemmShape& s, const Matrix& a, const Matrix& b, float* c, std::int64_t c_stride,
          std::byte* scratch, bool accumulate, RowSums sums) {
  if (s.m == 0 || s.n == 0) return;
  if (s.k == 0) {
    for (std::int64_t i = 0; i < s.m && !accumulate; ++i) std::fill_n(c + i * c_stride, s.n, 0.0F);
    return;
  }
  if (sums == RowSums::faster) sums = faster_sums(s.k);
  if (a.transposed && !b.transposed && sums == RowSums::tiles) {
    return sum_over_rows(s, a, b, c, c_stride, scratch, accumulate);
  }
  whole_product(s, a, b, c, c_stride, scratch, accumulate);
}

ProductTasks::ProductTasks(const GemmShape& shape, PackedSides packed) : shape_(shape) {
  // Tasks for which smaller blocks are worth their packing, and the blocks of 48 and of 96.
  constexpr int kFew = 8;
  constexpr int kEnough = 32;
  constexpr int kMany = 64;  // tasks, beyond which blocks stay larger
  constexpr std::int64_t kLargeBlock = 192;
  constexpr std::int64_t kSmallBlock = 48;
  const double cost = 2.0 * static_cast<double>(shape.n) * static_cast<double>(shape.k) / 40;
  const int most = tasks_for(shape.m, cost);
  const bool over_rows = packed != PackedSides::right;
  const std::int64_t reread = over_rows ? 1 : 8;  // packing costs so many times reading again
  if (packed == PackedSides::none) {
    constexpr std::int64_t kFewestRows = 32;
    constexpr std::int64_t kFewestColumns = 96;
    while (2 * count() <= std::min(most, kMany)) {
      const bool rows = shape.m >= 2 * kFewestRows * row_parts_;
      const bool columns = shape.n >= 2 * kFewestColumns * column_parts_;
      if (!rows && !columns) break;
      const bool longer = shape.n * row_parts_ < shape.m * column_parts_;
      (rows && (longer || !columns) ? row_parts_ : column_parts_) *= 2;
    }
    return;
  }
  for (std::int64_t least = kLargeBlock;
       least >= kSmallBlock && count() < (2 * least >= kLargeBlock ? kEnough : kFew); least /= 2) {
    const std::int64_t least_columns = over_rows ? least : std::min<std::int64_t>(least, 64);
    while (2 * count() <= most && (least == kLargeBlock || count() < kEnough)) {
      const std::int64_t sides = count() < kMany ? 2 : 4;
      const bool rows = shape.m >= sides * least * row_parts_;
      const bool columns = shape.n >= sides * least_columns * column_parts_;
      if (!rows && !columns) break;
      // A further part of the rows packs b again, one of the columns reads or packs a.
      const bool cheaper = shape.n * row_parts_ * reread < shape.m * column_parts_;
      (rows && (cheaper || !columns) ? row_parts_ : column_parts_) *= 2;
    }
  }
}

ProductTasks::Block ProductTasks::block(int index) const {
  return {split(shape_.m, row_parts_, index / column_parts_),
          column_lines(shape_.n, column_parts_, index % column_parts_)};
}

std::size_t ProductTasks::scratch_bytes() const {
  GemmShape largest = shape_;
  largest.m = (shape_.m + row_parts_ - 1) / row_parts_;
  constexpr std::int64_t kLine = 16;
  largest.n = std::min(shape_.n, shape_.n / column_parts_ + 2 * kLine);
  return gemm_scratch_bytes(largest);
}

Range column_lines(std::int64_t columns, int tasks, int index) {
  constexpr std::int64_t kLine = 16;
  const Range lines = split((columns + kLine - 1) / kLine, tasks, index);
  return {lines.begin * kLine, std::min(lines.end * kLine, columns)};
}

}  // namespace linnet::cpu
