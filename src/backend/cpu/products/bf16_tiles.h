// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/products/panel_product.h"

namespace linnet::cpu {

// Own products of bfloat16s on the calling thread, by VDPBF16PS: c += a0 b0 + a1 b1 in f32 for
// pairs of neighbouring terms, or by AMX (amx_tiles.h), which adds 16 such pairs to each other
// first. (Both take subnormal operands and results for zeros.) The right
// operand is packed into panels of 32 columns, pair after pair; a last panel of at most 16 columns
// has 16. Every element sums its pairs in their order, whatever the panels and blocks: equal bits
// for equal operands.

/// Returns whether this processor has VDPBF16PS. No other function here may be called without it.
bool has_bf16_tiles();

/// Returns whether own products are those to take where bf16 is native: always, but not where
/// oneDNN has AMX and this library cannot use it (amx_tiles.h).
bool own_bf16_products();

constexpr std::int64_t pairs_of(std::int64_t terms) { return (terms + 1) / 2; }

/// Bytes of panels of `pairs` pairs and so many columns.
std::size_t bf16_panel_bytes(std::int64_t pairs, std::int64_t columns);

/// Rounds `terms` rows of b to pairs [begin, ...) of panels that have `pairs`; an odd last term
/// meets zeros. One of b's strides is 1.
void pack_bf16_panels(const StridedMatrix& b, std::int64_t terms, std::int64_t begin,
                      std::int64_t pairs, std::int64_t columns, std::uint16_t* panels);

/// The left operand: rows of `segments` parts of `length` neighbouring bfloat16s each, a part
/// `stride` after the one before. Of an odd length one more is read, which meets a zero.
struct Bf16Rows {
  const std::uint16_t* const* rows;
  std::int64_t segments = 1;
  std::int64_t length = 0;
  std::int64_t stride = 0;
};

/// Computes c[i][j] = sum over t of a.rows[i][t] b[t][j] for `rows` rows and b in panels of
/// segments pairs_of(length) pairs; rows of c are `c_stride` floats apart.
void bf16_panel_product(const Bf16Rows& a, std::int64_t rows, const std::uint16_t* panels,
                        std::int64_t columns, float* c, std::int64_t c_stride);

/// What becomes of sums: y = f(scale sum + bias + residual), f keeps NaN; what is null is left out.
/// A residual's rows lie as y's.
struct Bf16Result {
  enum class Then : std::uint8_t { nothing, relu, tanh };
  std::uint16_t* y = nullptr;
  std::int64_t stride = 0;
  const float* scale = nullptr;
  const float* bias = nullptr;
  const std::uint16_t* residual = nullptr;
  Then then = Then::nothing;
};
/// The same product, rounded to bfloat16 from the registers. `sums`: rows of `columns` floats,
/// which are overwritten.
void bf16_panel_product(const Bf16Rows& a, std::int64_t rows, const std::uint16_t* panels,
                        std::int64_t columns, float* sums, const Bf16Result& result);
/// What follows from sums that are there.
void finish_sums(const float* sums, std::int64_t rows, std::int64_t columns,
                 const Bf16Result& result);

/// Bytes of the left operand's tiles, for sums over pixels or samples.
std::size_t bf16_tile_bytes(std::int64_t pairs, std::int64_t rows);
/// Rounds A^T: row t of it, of `rows` floats, lies at a + t a_stride.
void pack_bf16_tiles(const float* a, std::int64_t a_stride, std::int64_t terms, std::int64_t rows,
                     std::uint16_t* tiles);
/// The same of what is rounded already.
void pack_bf16_tiles(const std::uint16_t* a, std::int64_t a_stride, std::int64_t terms,
                     std::int64_t rows, std::uint16_t* tiles);
/// The same as AMX's tiles of 16 rows and 16 pairs (amx_product.h), whatever the processor has.
void pack_amx_tiles(const float* a, std::int64_t a_stride, std::int64_t terms, std::int64_t rows,
                    std::uint32_t* tiles);
/// Packs panels whose row t of bfloat16s lies at b[t] + offset.
void pack_bf16_row_panels(const std::uint16_t* const* b, std::int64_t offset, std::int64_t terms,
                          std::int64_t columns, std::uint16_t* panels);
/// Computes c[i][j] = (accumulate ? c[i][j] : 0) + sum over t of a[t][i] b[t][j].
void bf16_tile_product(std::int64_t pairs, std::int64_t rows, std::int64_t columns,
                       const std::uint16_t* tiles, const std::uint16_t* panels, bool accumulate,
                       float* c, std::int64_t c_stride);

/// Rounds `rows` rows of `count` floats, as round_to_bf16() but that subnormals become zero.
void round_rows_to_bf16(const float* from, std::int64_t from_stride, std::int64_t rows,
                        std::int64_t count, std::uint16_t* to, std::int64_t to_stride);

/// Multiplies column j of `rows` rows by factors[j].
void scale_columns(float* c, std::int64_t rows, std::int64_t columns, std::int64_t c_stride,
                   const float* factors);

}  // namespace linnet::cpu
