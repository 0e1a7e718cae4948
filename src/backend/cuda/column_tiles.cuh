// SPDX-License-Identifier: Apache-2.0
#pragma once

// How kernels that normalise by sums of columns go over a (rows, columns) matrix.
#include <algorithm>
#include <cstdint>

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
  std::int64_t chunk_rows = 0;  ///< of each chunk but the last ones, which may have fewer
  unsigned block = kBlock;

  void set_lanes(unsigned count) {
    lanes = count;
    tiles = static_cast<unsigned>((columns / vector + lanes - 1) / lanes);
  }
  void set_chunks(unsigned count) {
    chunks = count;
    chunk_rows = (rows + chunks - 1) / chunks;
  }
  std::int64_t rows_of_thread() const { return (chunk_rows * lanes + block - 1) / block; }
  LaunchShape shape() const { return {.grid = dim3(tiles, chunks), .block = block}; }
  /// Returns what `sums` numbers a column and chunk take of the workspace.
  std::size_t partial_bytes(std::size_t sums) const {
    return chunks == 1 ? 0 : sums * sizeof(float) * chunks * static_cast<std::size_t>(columns);
  }
};

/// `rows_each`: how many rows a thread should have, so that sums outweigh their reduction.
/// `vectors`: whether a thread may load four columns at once.
inline ColumnTiles column_tiles(std::int64_t rows, std::int64_t columns, std::int64_t rows_each,
                                std::int64_t most_blocks, bool vectors = true) {
  ColumnTiles t{.rows = rows, .columns = columns, .vector = vectors && columns % 4 == 0 ? 4 : 1};
  const unsigned most_lanes = kWarp / static_cast<unsigned>(t.vector);
  while (t.lanes < most_lanes && t.lanes < columns / t.vector) t.lanes *= 2;
  t.set_lanes(t.lanes);
  const std::int64_t rows_of_block = rows_each * (kBlock / t.lanes);
  const std::int64_t most = std::max<std::int64_t>(most_blocks / std::max(t.tiles, 1U), 1);
  t.set_chunks(static_cast<unsigned>(
      std::clamp<std::int64_t>(rows / rows_of_block, 1, std::min<std::int64_t>(most, 65535))));
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
    const unsigned lane = threadIdx.x & (t.lanes - 1);
    column = (static_cast<std::int64_t>(blockIdx.x) * t.lanes + lane) * kVector;
    inside = column < t.columns;
    begin = min(t.rows, blockIdx.y * t.chunk_rows);
    end = min(t.rows, begin + t.chunk_rows);
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

  /// Loads the thread's rows at once, of which there are at most kRows, to rows[kRows].
  template <int kRows, class Load, class Row>
  __device__ void load_kept(const Load& load, Row* rows) const {
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const std::int64_t r = first + k * step;
      rows[k] = r < end ? load(r) : Row{};
    }
  }
  /// Calls use(row, rows[k]...) for them in order.
  template <int kRows, class Use, class... Row>
  __device__ void use_kept(const Use& use, const Row*... rows) const {
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const std::int64_t r = first + k * step;
      if (r < end) use(r, rows[k]...);
    }
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

/// Adds each of `sums` (FloatVector<kVector>) over all threads of a block that share columns, in a
/// fixed order; every thread gets the results, and every thread must call it. The block has a whole
/// number of warps.
template <int kVector, class... Sum>
__device__ void add_over_rows(unsigned lanes, Sum&... sums) {
  constexpr unsigned kLane = static_cast<unsigned>(sizeof...(Sum)) * kVector;
  constexpr unsigned kNumbers = kWarp / kVector * kLane;  // of all lanes, at most
  constexpr unsigned kTeam = 8;                           // threads that add one number's parts
  __shared__ float parts[kColumnBlock / kWarp][kNumbers];
  __shared__ float totals[kNumbers];
  for (unsigned offset = lanes; offset < kWarp; offset *= 2) {
    for (int v = 0; v < kVector; ++v) {
      ((sums[v] += __shfl_xor_sync(kFullWarp, sums[v], offset)), ...);
    }
  }
  const unsigned warps = blockDim.x / kWarp;
  const unsigned lane = threadIdx.x & (lanes - 1);
  if (threadIdx.x % kWarp < lanes) {
    float* to = parts[threadIdx.x / kWarp] + lane * kLane;
    for (int v = 0; v < kVector; ++v) ((*to++ = sums[v]), ...);
  }
  __syncthreads();
  const unsigned member = threadIdx.x % kTeam;
  for (unsigned from = 0; from < lanes * kLane; from += blockDim.x / kTeam) {
    const unsigned number = from + threadIdx.x / kTeam;
    float total = 0;
    if (number < lanes * kLane) {
      for (unsigned w = member; w < warps; w += kTeam) total += parts[w][number];
    }
    for (unsigned offset = kTeam / 2; offset > 0; offset /= 2) {
      total += __shfl_xor_sync(kFullWarp, total, offset);
    }
    if (member == 0 && number < lanes * kLane) totals[number] = total;
  }
  __syncthreads();
  const float* from = totals + lane * kLane;
  for (int v = 0; v < kVector; ++v) ((sums[v] = *from++), ...);
}

/// Adds sums over the rows of all blocks of a tile, in a fixed order. Returns true in one of them;
/// there every thread gets the results. `partial`: the workspace, partial_bytes() for as many sums.
/// Every thread must call it.
template <int kVector, class... Sum>
__device__ bool add_over_blocks(const ColumnTiles& t, const ColumnCell<kVector>& cell,
                                float* partial, unsigned* tickets, Sum&... sums) {
  add_over_rows<kVector>(t.lanes, sums...);
  if (t.chunks == 1) return true;
  const std::int64_t apart = t.chunks * t.columns;
  if (cell.leads(t)) {
    float* to = partial + cell.place(t);
    ((store_vector(to, sums), to += apart), ...);
  }
  if (!is_last_block(tickets + blockIdx.x, t.chunks)) return false;
  ((sums = {}), ...);
  cell.for_chunks(t, [&](std::int64_t /*chunk*/, std::int64_t at) {
    const auto add = [&](FloatVector<kVector>& sum) {
      const auto part = load_vector<kVector>(partial + at);
      for (int v = 0; v < kVector; ++v) sum[v] += part[v];
      at += apart;
    };
    (add(sums), ...);
  });
  add_over_rows<kVector>(t.lanes, sums...);
  return true;
}

}  // namespace linnet::cuda
