// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a batch norm is launched.
#include <cstdint>
#include <optional>

#include "backend/cuda/column_tiles.cuh"

namespace linnet::cuda {

/// Returns tiles by which one launch computes sums and what follows from them, where it is no
/// slower than two: few rows by a block, more by the blocks of a cluster. `passes` are reads and
/// writes of an image, of `element` bytes each. One launch saves a node of the graph and costs a
/// wait of the cluster. It takes longer where its blocks are too few, and where it reads parts of
/// lines of images that leave the L2 cache.
inline std::optional<ColumnTiles> tiles_of_one_launch(std::int64_t rows, std::int64_t channels,
                                                      int compute_capability, int passes,
                                                      std::size_t element) {
  constexpr std::int64_t kRowsOfBlock = 1024;           // a block finds them in the cache again
  constexpr std::int64_t kImageOfCache = 32 << 20;      // bytes; an H100's L2 cache has 50 MB
  constexpr double kMultiprocessors = 132;              // of an H100 or H200
  constexpr double kBytes = 4.3e12 / kMultiprocessors;  // its share of the memory's, a second
  constexpr double kMost = 2;                           // shares: 64 bytes a clock would be three
  constexpr double kSaved = 1.3e-6 - 0.5e-6;            // a node (gpu_kinds.cpp), a wait (a guess)
  ColumnTiles t = column_tiles(rows, channels, 1, 1);
  if (rows <= kRowsOfBlock) return t;
  if (!has_clusters(compute_capability)) return std::nullopt;
  t.cluster = true;
  t.chunks = kCluster;
  t.block = kColumnBlock;
  const unsigned whole_lines = t.lanes;
  const auto multiprocessors = [&] {
    return std::min(kMost * t.tiles * t.chunks, kMultiprocessors);
  };
  while (t.lanes * static_cast<unsigned>(t.vector) > 8 && multiprocessors() < kMultiprocessors) {
    t.set_lanes(t.lanes / 2);
  }
  const double image = static_cast<double>(element) * static_cast<double>(rows * channels);
  if (image > kImageOfCache && t.lanes < whole_lines) return std::nullopt;
  const double longer = passes * image / kBytes * (1 / multiprocessors() - 1 / kMultiprocessors);
  return longer <= kSaved ? std::optional(t) : std::nullopt;
}

/// Describes where two numbers of each channel lie by chunks of rows:
/// first[chunk * channels + channel].
struct Partials {
  float* first = nullptr;
  float* second = nullptr;
  unsigned* tickets = nullptr;  ///< one for each tile
};

}  // namespace linnet::cuda
