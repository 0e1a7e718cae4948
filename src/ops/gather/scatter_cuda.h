// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cuda/launch.h"

namespace linnet::cuda {

inline constexpr unsigned kScatterWarps = 8;  ///< of a block

/// Describes how the gradient of a gather's table is cut, from the shape alone.
struct ScatterShape {
  int vector = 1;         ///< floats of a lane: 4 or 1
  std::int64_t tile = 1;  ///< columns of a block
  std::int64_t rows = 1;  ///< table rows of a block
  unsigned tiles = 0;
  unsigned groups = 0;    ///< of rows
  unsigned segments = 1;  ///< of indices

  /// Each warp has sums of its own in shared memory.
  LaunchShape launch() const {
    return {.grid = dim3(tiles * groups, segments),
            .block = kScatterWarps * kWarp,
            .shared_bytes = sizeof(float) * kScatterWarps * static_cast<std::size_t>(rows * tile)};
  }
};

/// Returns the cut for a table (rows, size) and `count` indices.
ScatterShape scatter_shape(std::int64_t rows, std::int64_t size, std::int64_t count);

}  // namespace linnet::cuda
