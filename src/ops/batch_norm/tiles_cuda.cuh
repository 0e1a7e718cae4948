// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a batch norm is launched.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "backend/cuda/column_tiles.cuh"
#include "base/bits.h"

namespace linnet::cuda {

/// Rows that a thread keeps in registers between its two passes over them, at most: of a norm, and
/// of a gradient, whose rows take twice the registers.
inline constexpr int kNormKeeps = 8;
inline constexpr int kGradientKeeps = 4;
/// Length of an array of so many rows; of none it has a row that nobody touches.
template <int kKept>
inline constexpr int kKeptRows = kKept > 0 ? kKept : 1;

/// Returns tiles by which one launch computes sums and what follows from them, a block all rows of
/// some channels, where two launches are not faster. `keeps`: rows of a thread that are read once.
/// The choice follows from the shape alone, so that all kinds of norms of one image add in the same
/// order, and all kinds of gradients.
inline std::optional<ColumnTiles> tiles_of_one_launch(std::int64_t rows, std::int64_t channels,
                                                      std::size_t element, bool vectors,
                                                      int keeps) {
  constexpr double kMultiprocessors = 132;  // of an H100 or H200
  constexpr double kBytes = 80e9;           // a second, of one with 512 threads; an estimate
  constexpr double kSecond = 4e-6;          // launch, and the sums of the last block; on an H200
  constexpr double kPasses = 5;             // reads and writes of an image
  const ColumnTiles widest = column_tiles(rows, channels, 1, 1, vectors);
  const double image = static_cast<double>(element) * static_cast<double>(rows * channels);
  std::optional<ColumnTiles> best;
  double least = kPasses * image / (kMultiprocessors * kBytes) + kSecond;  // of two
  for (unsigned lanes = widest.lanes; lanes > 0; lanes /= 2) {
    const bool narrow = lanes * static_cast<unsigned>(widest.vector) < 8;  // than a sector
    if (narrow && lanes < widest.lanes) break;
    ColumnTiles t = widest;
    t.set_lanes(lanes);
    t.block = static_cast<unsigned>(
        std::clamp<std::uint64_t>(bit_ceil(static_cast<std::uint64_t>(rows)) * lanes, kWarp,
                                  kColumnBlock));
    const bool loops = t.vector != 4 || t.rows_of_thread() > keeps;
    const double blocks = t.tiles;
    const double at_once = kMultiprocessors * kColumnBlock / t.block;  // of these registers
    const double seconds =
        (loops ? 2 : 1) * kPasses * std::ceil(blocks / at_once) * image / (blocks * kBytes);
    if (seconds >= 0.99 * least) continue;
    best = t;
    least = seconds;
  }
  return best;
}

/// Describes where two numbers of each channel lie by chunks of rows:
/// first[chunk * channels + channel].
struct Partials {
  float* first = nullptr;
  float* second = nullptr;
  unsigned* tickets = nullptr;  ///< one for each tile
};

}  // namespace linnet::cuda
