// SPDX-License-Identifier: Apache-2.0
#pragma once

// How kernels that add up the columns of a (rows, columns) matrix cut it (column_tiles.cuh).
#include <cstddef>
#include <cstdint>

#include "backend/cuda/launch.h"

namespace linnet::cuda {

/// The largest block of such kernels.
inline constexpr unsigned kColumnBlock = 512;

/// A block takes `lanes` vectors of neighbouring columns (128 bytes of a row where there are as
/// many) and one of `chunks` equal ranges of rows. All follows from the shape.
struct ColumnTiles {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  int vector = 1;      ///< floats that a thread loads at once: 4 or 1
  unsigned fold = 1;   ///< parts of a row that are added to each other at the end
  unsigned lanes = 1;  ///< threads side by side: a power of two, at most a warp
  unsigned tiles = 0;  ///< blocks side by side
  unsigned chunks = 1;
  std::int64_t chunk_rows = 0;  ///< of each chunk but the last ones, which may have fewer
  unsigned block = kBlock;

  void set_lanes(unsigned most);
  void set_chunks(unsigned count);
  std::int64_t rows_of_thread() const { return (chunk_rows * lanes + block - 1) / block; }
  LaunchShape shape() const { return {.grid = dim3(tiles, chunks), .block = block}; }
  /// Returns what `sums` numbers a column and chunk take of the workspace.
  std::size_t partial_bytes(std::size_t sums) const {
    return chunks == 1 ? 0 : sums * sizeof(float) * chunks * static_cast<std::size_t>(columns);
  }
};

/// `rows_each`: how many rows a thread should have, so that sums outweigh their reduction.
/// `vectors`: whether a thread may load four columns at once.
ColumnTiles column_tiles(std::int64_t rows, std::int64_t columns, std::int64_t rows_each,
                         std::int64_t most_blocks, bool vectors = true);

/// Returns tiles for kernels that compute nothing but sums (column_sum.cuh).
ColumnTiles column_sums(std::int64_t rows, std::int64_t columns);

/// Returns them for one sum a column of a matrix in memory without gaps. Two or four rows of a
/// narrow one count as one (`fold`), so that four floats are loaded at once where 4 does not divide
/// its columns.
ColumnTiles matrix_sums(std::int64_t rows, std::int64_t columns);

}  // namespace linnet::cuda
