// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backend/cpu/products/bf16_tiles.h"

namespace linnet::cpu {

// The products of bf16_tiles.h by AMX: TDPBF16PS multiplies a tile of 16 rows and 16 pairs of terms
// by one of 16 pairs and 16 columns. `Unit` is the processor (amx_tiles.cpp) or the instruction's
// definition (amx_emulated.h); it has eight tiles of 16 rows of 64 bytes:
//   zero<t>(), load<t>(from, stride), store<t>(to, stride), multiply_add<c, a, b>().
// Pairs are cut into tiles from the first one on, so that bits do not depend on blocks.

inline constexpr std::int64_t kAmxSide = 16;
inline constexpr std::int64_t kAmxWords = kAmxSide * kAmxSide;  ///< of 32 bits in a tile
inline constexpr std::int64_t kAmxStride = 64;                  ///< bytes of a tile's row

constexpr std::int64_t amx_tiles_of(std::int64_t count) {
  return (count + kAmxSide - 1) / kAmxSide;
}

/// The left operand as tiles of 16 rows and 16 pairs, padded with zeros: those of a row tile follow
/// each other, and `pitch` words lie between row tiles.
struct AmxLeft {
  const std::uint32_t* tiles;
  std::int64_t pitch;
};

namespace amx {

/// Where a tile of sums lies: 16 x 16 floats of c, or fewer.
struct Sums {
  float* c;
  std::int64_t stride;  ///< in floats
  std::int64_t rows;
  std::int64_t columns;
  bool whole() const { return rows >= kAmxSide && columns >= kAmxSide; }
};

template <int kTile, class Unit>
void load_sums(Unit& unit, const Sums& sums) {
  if (sums.whole()) {
    unit.template load<kTile>(sums.c, 4 * sums.stride);
    return;
  }
  alignas(64) float whole[kAmxWords] = {};
  for (std::int64_t i = 0; i < std::min(sums.rows, kAmxSide); ++i) {
    std::copy_n(sums.c + i * sums.stride, std::clamp<std::int64_t>(sums.columns, 0, kAmxSide),
                whole + i * kAmxSide);
  }
  unit.template load<kTile>(whole, kAmxStride);
}

template <int kTile, class Unit>
void store_sums(Unit& unit, const Sums& sums) {
  if (sums.whole()) {
    unit.template store<kTile>(sums.c, 4 * sums.stride);
    return;
  }
  alignas(64) float whole[kAmxWords];
  unit.template store<kTile>(whole, kAmxStride);
  for (std::int64_t i = 0; i < std::min(sums.rows, kAmxSide); ++i) {
    std::copy_n(whole + i * kAmxSide, std::clamp<std::int64_t>(sums.columns, 0, kAmxSide),
                sums.c + i * sums.stride);
  }
}

/// What a block of up to 32 rows and a panel of 16 or 32 columns is computed from.
struct Block {
  AmxLeft a;
  std::int64_t pairs;
  const std::uint16_t* panel;
  bool first;  ///< sums begin with zero
  Sums sums;
};

/// Tiles 0 to 3 are sums, row by row, 4 and 5 the left operand's, 6 and 7 the right one's.
template <int kRows, int kColumns, class Unit>
void multiply(Unit& unit, const Block& block) {
  constexpr std::int64_t kWidth = kAmxSide * kColumns;
  const auto part = [&](std::int64_t row, std::int64_t column) {
    const Sums& s = block.sums;
    return Sums{s.c + row * kAmxSide * s.stride + column * kAmxSide, s.stride,
                s.rows - row * kAmxSide, s.columns - column * kAmxSide};
  };
  if (block.first) {
    unit.template zero<0>();
    if constexpr (kColumns == 2) unit.template zero<1>();
    if constexpr (kRows == 2) unit.template zero<2>();
    if constexpr (kRows == 2 && kColumns == 2) unit.template zero<3>();
  } else {
    load_sums<0>(unit, part(0, 0));
    if constexpr (kColumns == 2) load_sums<1>(unit, part(0, 1));
    if constexpr (kRows == 2) load_sums<2>(unit, part(1, 0));
    if constexpr (kRows == 2 && kColumns == 2) load_sums<3>(unit, part(1, 1));
  }
  alignas(64) std::uint16_t rest[2 * kAmxSide * kWidth];
  for (std::int64_t k = 0; k < amx_tiles_of(block.pairs); ++k) {
    const std::uint16_t* b = block.panel + 2 * k * kAmxSide * kWidth;
    if (const std::int64_t left = block.pairs - k * kAmxSide; left < kAmxSide) {
      std::fill(std::copy_n(b, 2 * left * kWidth, rest), std::end(rest), std::uint16_t{0});
      b = rest;
    }
    const std::uint32_t* a = block.a.tiles + k * kAmxWords;
    unit.template load<4>(a, kAmxStride);
    unit.template load<6>(b, 4 * kWidth);
    unit.template multiply_add<0, 4, 6>();
    if constexpr (kColumns == 2) {
      unit.template load<7>(b + 2 * kAmxSide, 4 * kWidth);
      unit.template multiply_add<1, 4, 7>();
    }
    if constexpr (kRows == 2) {
      unit.template load<5>(a + block.a.pitch, kAmxStride);
      unit.template multiply_add<2, 5, 6>();
      if constexpr (kColumns == 2) unit.template multiply_add<3, 5, 7>();
    }
  }
  store_sums<0>(unit, part(0, 0));
  if constexpr (kColumns == 2) store_sums<1>(unit, part(0, 1));
  if constexpr (kRows == 2) store_sums<2>(unit, part(1, 0));
  if constexpr (kRows == 2 && kColumns == 2) store_sums<3>(unit, part(1, 1));
}

/// Multiplies up to 32 rows by pairs [begin, begin + pairs) of all panels, which have `all_pairs`.
template <class Unit>
void multiply_panels(Unit& unit, const AmxLeft& a, std::int64_t rows, std::int64_t begin,
                     std::int64_t pairs, std::int64_t all_pairs, const std::uint16_t* panels,
                     std::int64_t columns, bool first, float* c, std::int64_t c_stride) {
  for (std::int64_t j = 0; j < columns; j += 2 * kAmxSide) {
    const bool wide = columns - j > kAmxSide;
    const Block block{a,
                      pairs,
                      panels + 2 * (j * all_pairs + begin * (wide ? 2 : 1) * kAmxSide),
                      first,
                      {c + j, c_stride, rows, columns - j}};
    if (rows > kAmxSide) {
      wide ? multiply<2, 2>(unit, block) : multiply<2, 1>(unit, block);
    } else {
      wide ? multiply<1, 2>(unit, block) : multiply<1, 1>(unit, block);
    }
  }
}

/// Writes `pairs` pairs from `from` to places [at, ...) of row `row` of tiles that follow each
/// other.
inline void spread(const std::uint16_t* from, std::int64_t pairs, std::int64_t row, std::int64_t at,
                   std::uint32_t* tiles) {
  while (pairs > 0) {
    const std::int64_t inside = at % kAmxSide;
    const std::int64_t count = std::min(pairs, kAmxSide - inside);
    std::memcpy(tiles + at / kAmxSide * kAmxWords + row * kAmxSide + inside, from,
                sizeof(std::uint32_t) * static_cast<std::size_t>(count));
    from += 2 * count;
    at += count;
    pairs -= count;
  }
}

/// Writes pairs [begin, begin + pairs) of a row of `a` to row `row` of its tiles.
inline void gather_row(const Bf16Rows& a, const std::uint16_t* row_of_a, std::int64_t begin,
                       std::int64_t pairs, std::int64_t row, std::uint32_t* tiles) {
  const std::int64_t of_segment = pairs_of(a.length);
  for (std::int64_t done = 0; done < pairs;) {
    const std::int64_t inside = (begin + done) % of_segment;
    const std::int64_t count = std::min(pairs - done, of_segment - inside);
    spread(row_of_a + (begin + done) / of_segment * a.stride + 2 * inside, count, row, done, tiles);
    done += count;
  }
}

}  // namespace amx

/// bf16_panel_product() by `unit`.
template <class Unit>
void amx_panel_product(Unit& unit, const Bf16Rows& a, std::int64_t rows,
                       const std::uint16_t* panels, std::int64_t columns, float* c,
                       std::int64_t c_stride) {
  constexpr std::int64_t kBlockPairs = 512;  // of 32 rows: 64 KiB
  const std::int64_t pairs = a.segments * pairs_of(a.length);
  alignas(64) std::uint32_t tiles[2 * kAmxSide * kBlockPairs];
  for (std::int64_t i = 0; i < rows; i += 2 * kAmxSide) {
    const std::int64_t own = std::min(rows - i, 2 * kAmxSide);
    for (std::int64_t begin = 0; begin < pairs; begin += kBlockPairs) {
      const std::int64_t count = std::min(pairs - begin, kBlockPairs);
      const std::int64_t pitch = amx_tiles_of(count) * kAmxWords;
      if (own % kAmxSide != 0 || count % kAmxSide != 0) std::fill_n(tiles, 2 * pitch, 0U);
      for (std::int64_t r = 0; r < own; ++r) {
        amx::gather_row(a, a.rows[i + r], begin, count, r % kAmxSide, tiles + r / kAmxSide * pitch);
      }
      amx::multiply_panels(unit, {tiles, pitch}, own, begin, count, pairs, panels, columns,
                           begin == 0, c + i * c_stride, c_stride);
    }
  }
}

/// bf16_tile_product() by `unit`, of a left operand that pack_amx_tiles() packed.
template <class Unit>
void amx_tile_product(Unit& unit, std::int64_t pairs, std::int64_t rows, std::int64_t columns,
                      const std::uint32_t* tiles, const std::uint16_t* panels, bool accumulate,
                      float* c, std::int64_t c_stride) {
  const std::int64_t pitch = amx_tiles_of(pairs) * kAmxWords;
  for (std::int64_t i = 0; i < rows; i += 2 * kAmxSide) {
    amx::multiply_panels(unit, {tiles + i / kAmxSide * pitch, pitch},
                         std::min(rows - i, 2 * kAmxSide), 0, pairs, pairs, panels, columns,
                         !accumulate, c + i * c_stride, c_stride);
  }
}

}  // namespace linnet::cpu
