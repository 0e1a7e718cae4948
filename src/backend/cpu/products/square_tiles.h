// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Products of square tiles in double precision, of which symmetric products and Cholesky's
// factorisation are made.
namespace linnet::cpu {

/// Rows and columns of a tile.
inline constexpr std::int64_t kTile = 32;
inline constexpr std::size_t kTileElements = kTile * kTile;

/// c[i][j] += sign * sum over n of a[n][i] * b[n][j], the terms one after the other from n = 0 on:
/// a and b are `rows` rows of kTile, c is a tile. sign: 1 or -1. All are aligned to 64 bytes.
void add_tile_product(double* c, const double* a, const double* b, std::int64_t rows, double sign);

/// The same of the first `height` rows and `width` columns of the tile, at least: what lies beyond
/// them in the same vectors is added to as well.
void add_tile_part(double* c, const double* a, const double* b, std::int64_t rows,
                   std::int64_t height, std::int64_t width);

}  // namespace linnet::cpu
