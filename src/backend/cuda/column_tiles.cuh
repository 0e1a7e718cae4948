// SPDX-License-Identifier: Apache-2.0
#pragma once

// How kernels that add columns, or normalise by sums of them, go over a (rows, columns) matrix.
#include <algorithm>
#include <cstdint>

#include "backend/cuda/cluster.cuh"
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "backend/cuda/last_block.cuh"
#include "backend/cuda/vectors.cuh"

namespace linnet::cuda {

/// The largest block of such kernels.
inline constexpr unsigned kColumnBlock = 512;

/// A block takes `lanes` vectors of neighbouring columns (128 bytes of a row where there are as
/// many) and one of `chunks` equal ranges of rows. All follows from the shape.
struct ColumnTiles {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  int vector = 1;      ///< floats that a thread loads at once: 4 or 1
  unsigned lanes = 1;  ///< threads side by side: a power of two, at most a warp
  unsigned tiles = 0;  ///< blocks side by side
  unsigned chunks = 1;
  unsigned block = kBlock;
  bool cluster = false;  ///< whether the blocks of a tile run together (cluster.cuh)

  void set_lanes(unsigned count) {
    lanes = count;
    tiles = static_cast<unsigned>((columns / vector + lanes - 1) / lanes);
  }
  LaunchShape shape() const {
    return {.grid = dim3(tiles, chunks), .block = block, .cluster = cluster ? chunks : 1};
  }
  /// Returns what `sums` numbers a column and chunk take of the workspace.
  std::size_t partial_bytes(std::size_t sums) const {
    return chunks == 1 ? 0 : sums * sizeof(float) * chunks * static_cast<std::size_t>(columns);
  }
};

/// `rows_each`: how many rows a thread should have, so that sums outweigh their reduction.
inline ColumnTiles column_tiles(std::int64_t rows, std::int64_t columns, std::int64_t rows_each,
                                std::int64_t most_blocks) {
  ColumnTiles t{.rows = rows, .columns = columns, .vector = columns % 4 == 0 ? 4 : 1};
  const unsigned most_lanes = kWarp / static_cast<unsigned>(t.vector);
  while (t.lanes < most_lanes && t.lanes < columns / t.vector) t.lanes *= 2;
  t.set_lanes(t.lanes);
  const std::int64_t rows_of_block = rows_each * (kBlock / t.lanes);
  const std::int64_t most = std::max<std::int64_t>(most_blocks / std::max(t.tiles, 1U), 1);
  t.chunks = static_cast<unsigned>(
      std::clamp<std::int64_t>(rows / rows_of_block, 1, std::min<std::int64_t>(most, 65535)));
  return t;
}

/// The part of a matrix that one thread goes over: rows first, first + step, ... below `end`.
template <int kVector>
struct ColumnCell {
  std::int64_t column;  ///< the first of kVector
  std::int64_t begin;   ///< of the block's rows
  std::int64_t end;
  std::int64_t first;
  std::int64_t step;
  bool inside;  ///< whether it has such columns

  __device__ explicit ColumnCell(const ColumnTiles& t) {
    const std::int64_t lane = threadIdx.x % t.lanes;
    column = (static_cast<std::int64_t>(blockIdx.x) * t.lanes + lane) * kVector;
    inside = column < t.columns;
    begin = t.rows * blockIdx.y / gridDim.y;
    end = t.rows * (blockIdx.y + 1) / gridDim.y;
    first = begin + threadIdx.x / t.lanes;
    step = blockDim.x / t.lanes;
    if (!inside) first = end;
  }
  /// Returns whether this thread stands for its columns: the first of those that share them.
  __device__ bool leads(const ColumnTiles& t) const { return inside && threadIdx.x < t.lanes; }

  /// Calls use(row, load(row)) for the rows in order; kAhead of them are on their way at a time.
  template <int kAhead, class Load, class Use>
  __device__ void for_rows(const Load& load, const Use& use) const {
    std::int64_t r = first;
    for (; r + (kAhead - 1) * step < end; r += kAhead * step) {
      decltype(load(r)) next[kAhead];
      for (int k = 0; k < kAhead; ++k) next[k] = load(r + k * step);
      for (int k = 0; k < kAhead; ++k) use(r + k * step, next[k]);
    }
    for (; r < end; r += step) use(r, load(r));
  }

  /// Where the sums of the block's rows go, of all chunks' (chunks, columns).
  __device__ std::int64_t place(const ColumnTiles& t) const {
    return blockIdx.y * t.columns + column;
  }
  /// Calls use(chunk, place of its sums) for chunks, shared among the threads of the columns.
  template <class Use>
  __device__ void for_chunks(const ColumnTiles& t, const Use& use) const {
    for (std::int64_t j = threadIdx.x / t.lanes; inside && j < t.chunks; j += step) {
      use(j, j * t.columns + column);
    }
  }
};

/// Makes the sums of all chunks visible to the block; false where another block goes on with them.
/// kWhole, a launch of clusters: all go on, else the last one of a tile of columns.
template <bool kWhole>
__device__ bool gather_chunks(const ColumnTiles& t, unsigned* tickets) {
  if constexpr (kWhole) {
    cluster_barrier();
    return true;
  } else {
    return is_last_block(tickets + blockIdx.x, t.chunks);
  }
}

/// Adds each of `sums` (FloatVector<kVector>) over all threads of a block that share columns, in a
/// fixed order; every thread gets the results, and every thread must call it. The block has a whole
/// number of warps.
template <int kVector, class... Sum>
__device__ void add_over_rows(unsigned lanes, Sum&... sums) {
  constexpr int kLane = static_cast<int>(sizeof...(Sum)) * kVector;
  __shared__ float shared[kColumnBlock / kVector * kLane];
  for (unsigned offset = lanes; offset < kWarp; offset *= 2) {
    for (int v = 0; v < kVector; ++v) {
      ((sums[v] += __shfl_xor_sync(kFullWarp, sums[v], offset)), ...);
    }
  }
  const unsigned lane = threadIdx.x % lanes;
  if (threadIdx.x % kWarp < lanes) {
    float* to = shared + (threadIdx.x / kWarp * lanes + lane) * kLane;
    for (int v = 0; v < kVector; ++v) ((*to++ = sums[v]), ...);
  }
  __syncthreads();
  ((sums = {}), ...);
  for (unsigned w = 0; w < blockDim.x / kWarp; ++w) {
    const float* from = shared + (w * lanes + lane) * kLane;
    for (int v = 0; v < kVector; ++v) ((sums[v] += *from++), ...);
  }
}

/// Adds sums over the rows of all blocks of a tile, in a fixed order. Returns false in blocks that
/// have nothing more to do; in others every thread gets the results. `partial`: the workspace,
/// partial_bytes() for as many sums. Every thread must call it.
template <bool kWhole, int kVector, class... Sum>
__device__ bool add_over_blocks(const ColumnTiles& t, const ColumnCell<kVector>& cell,
                                float* partial, unsigned* tickets, bool aligned, Sum&... sums) {
  add_over_rows<kVector>(t.lanes, sums...);
  if (t.chunks == 1) return true;
  const std::int64_t apart = t.chunks * t.columns;
  if (cell.leads(t)) {
    float* to = partial + cell.place(t);
    ((store_vector(to, sums, aligned), to += apart), ...);
  }
  if (!gather_chunks<kWhole>(t, tickets)) return false;
  ((sums = {}), ...);
  cell.for_chunks(t, [&](std::int64_t /*chunk*/, std::int64_t at) {
    const auto add = [&](FloatVector<kVector>& sum) {
      const auto part = load_vector<kVector>(partial + at, aligned);
      for (int v = 0; v < kVector; ++v) sum[v] += part[v];
      at += apart;
    };
    (add(sums), ...);
  });
  add_over_rows<kVector>(t.lanes, sums...);
  return true;
}

}  // namespace linnet::cuda
