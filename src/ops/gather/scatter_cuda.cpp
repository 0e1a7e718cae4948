// SPDX-License-Identifier: Apache-2.0
#include "ops/gather/scatter_cuda.h"

#include <algorithm>

namespace linnet::cuda {

ScatterShape scatter_shape(std::int64_t rows, std::int64_t size, std::int64_t count) {
  constexpr std::int64_t kSums = 1024;  // floats of a warp's sums: 32 KiB a block
  ScatterShape shape;
  if (rows * size == 0) return shape;
  shape.vector = size % 4 == 0 && size > kWarp ? 4 : 1;
  shape.tile = std::min(size, std::int64_t{kWarp} * shape.vector);
  shape.rows = std::min(rows, kSums / shape.tile);
  shape.tiles = static_cast<unsigned>((size + shape.tile - 1) / shape.tile);
  shape.groups = static_cast<unsigned>((rows + shape.rows - 1) / shape.rows);
  // Few blocks share the indices' work by segments, whose tables are added up by a second launch.
  constexpr std::int64_t kBlocks = 256;
  constexpr std::int64_t kIndicesOfSegment = 2048;
  const std::int64_t blocks = std::int64_t{shape.tiles} * shape.groups;
  shape.segments = static_cast<unsigned>(
      std::clamp<std::int64_t>(std::min(kBlocks / blocks, count / kIndicesOfSegment), 1, 64));
  return shape;
}

}  // namespace linnet::cuda
