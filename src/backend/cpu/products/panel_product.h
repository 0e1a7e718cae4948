// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace linnet::cpu {

// Own matrix products, on the calling thread alone. The right operand is packed into panels: a few
// vectors of columns each, row after row, so that it is read in order. The left one is read where
// it lies, row by row, which spares a convolution the gathering of its patches. Every element sums
// its terms in their order by fused multiply-adds, whatever the panels and blocks: equal bits for
// equal operands.

/// The left operand: rows of `segments` parts of `length` neighbouring floats each, a part `stride`
/// floats after the one before. A patch of an image has a part for every row of the kernel.
struct SegmentedRows {
  const float* const* rows;
  std::int64_t segments = 1;
  std::int64_t length = 0;
  std::int64_t stride = 0;
};

/// Rows that one call of panel_product() should have at least, and need not exceed much.
inline constexpr std::int64_t kProductRows = 144;

/// Floats of `terms` rows of `columns` as panels.
std::size_t panel_floats(std::int64_t terms, std::int64_t columns);

/// Where a matrix B (terms, columns) lies that is to be packed.
struct StridedMatrix {
  const float* data = nullptr;
  std::int64_t term_stride = 0;
  std::int64_t column_stride = 0;
};

/// Packs rows [begin, end) of the panels of (terms, columns) from b, whose row 0 becomes `begin`.
void pack_panels(const StridedMatrix& b, std::int64_t begin, std::int64_t end, std::int64_t terms,
                 std::int64_t columns, float* panels);

/// Panels of `terms` rows of which segment s of the left operand meets those from
/// first + s stride on.
struct Panels {
  const float* data = nullptr;
  std::int64_t terms = 0;
  std::int64_t first = 0;
  std::int64_t stride = 0;
};

/// What follows the sums while they are in registers.
struct PanelTail {
  const float* residual = nullptr;  ///< is added, if not null, where c's rows lie in `of`
  const float* of = nullptr;
  bool relu = false;
  /// Results go to memory past the caches: c's rows begin at multiples of 64 bytes.
  bool streams = false;
  bool distant = false;  ///< results are not in the L2 cache: their lines are fetched ahead
};

/// The number of floats from which on results leave the L2 cache before they are read.
inline constexpr std::int64_t kDistantFloats = std::int64_t{1} << 18;

/// Computes c[i][j] = tail(start[j] + sum over t of a.rows[i][t] b[t][j]), where b is what a's
/// segments meet; c: the addresses of `rows` rows of `columns` floats. `start` may be null for
/// zeros.
void panel_product(const SegmentedRows& a, std::int64_t rows, const Panels& b, std::int64_t columns,
                   const float* start, float* const* c, const PanelTail& tail = {});
/// The same where a's segments meet the panels' rows one after the other.
inline void panel_product(const SegmentedRows& a, std::int64_t rows, const float* panels,
                          std::int64_t columns, const float* start, float* const* c,
                          const PanelTail& tail = {}) {
  panel_product(a, rows, Panels{panels, a.segments * a.length, 0, a.length}, columns, start, c,
                tail);
}

/// Both operands packed, for sums over pixels or samples.
struct TileShape {
  std::int64_t terms = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

std::size_t tile_floats(std::int64_t terms, std::int64_t rows);
/// Packs A^T where a[t] are the addresses of `terms` rows of `rows` floats.
void pack_tiles(const float* const* a, std::int64_t terms, std::int64_t rows, float* tiles);
/// Packs panels whose row t lies at b[t] + offset.
void pack_row_panels(const float* const* b, std::int64_t offset, std::int64_t terms,
                     std::int64_t columns, float* panels);
/// Computes c[i][j] = (accumulate ? c[i][j] : 0) + sum over t of a[t][i] b[t][j]; rows of c are
/// `c_stride` floats apart.
void tile_product(const TileShape& shape, const float* tiles, const float* panels, bool accumulate,
                  float* c, std::int64_t c_stride);

}  // namespace linnet::cpu
