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

/// Rows of a norm that a thread keeps in registers between its two passes over them, at most.
inline constexpr int kMostKept = 8;

/// Returns tiles by which one launch computes sums and what follows from them, where two launches
/// are not faster: a block has all rows of some channels, or the blocks of a cluster have. The
/// choice follows from the shape alone, so that all kinds of norms and gradients of one image add
/// in the same order.
inline std::optional<ColumnTiles> tiles_of_one_launch(std::int64_t rows, std::int64_t channels,
                                                      int compute_capability, std::size_t element,
                                                      bool vectors) {
  constexpr double kMultiprocessors = 132;  // of an H100 or H200
  constexpr double kBytes = 80e9;           // a second, of one with 512 threads; an estimate
  constexpr double kWait = 4e-6;            // of a cluster: measured on an H200
  constexpr double kSecond = 4e-6;          // launch, and the sums of the last block; an estimate
  constexpr double kPasses = 5;             // reads and writes of an image
  const ColumnTiles widest = column_tiles(rows, channels, 1, 1, vectors);
  const double image = static_cast<double>(element) * static_cast<double>(rows * channels);
  std::optional<ColumnTiles> best;
  double least = kPasses * image / (kMultiprocessors * kBytes) + kSecond;  // of two
  for (unsigned lanes = widest.lanes; lanes > 0; lanes /= 2) {
    const bool narrow = lanes * static_cast<unsigned>(widest.vector) < 8;  // than a sector
    if (narrow && lanes < widest.lanes) break;
    for (unsigned chunks = 1; chunks <= (has_clusters(compute_capability) ? kCluster : 1);
         chunks *= 2) {
      ColumnTiles t = widest;
      t.set_lanes(lanes);
      t.set_chunks(chunks);
      t.cluster = chunks > 1;
      t.block = static_cast<unsigned>(std::clamp<std::uint64_t>(
          bit_ceil(static_cast<std::uint64_t>(t.chunk_rows)) * lanes, kWarp, kColumnBlock));
      const bool loops = t.rows_of_thread() > kMostKept;
      const double blocks = t.tiles * chunks;
      const double at_once = kMultiprocessors * kColumnBlock / t.block;  // of these registers
      const double passes = (loops ? 2 : 1) * kPasses * std::ceil(blocks / at_once);
      const double seconds = passes * image / (blocks * kBytes) + (t.cluster ? kWait : 0);
      if (seconds >= 0.99 * least) continue;
      best = t;
      least = seconds;
    }
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
