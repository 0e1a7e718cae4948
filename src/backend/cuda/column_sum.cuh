// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "backend/cuda/last_block.cuh"
#include "backend/cuda/vectors.cuh"

namespace linnet::cuda {

/// Describes how a (rows, columns) matrix is cut for column_sum(): a block takes `tile` vectors of
/// neighbouring columns and one of `chunks` equal ranges of rows. All follows from the shape.
struct ColumnSumShape {
  int vector = 1;  ///< floats that a thread loads at once: 4 or 1
  unsigned tile = 1;
  unsigned tiles = 0;
  unsigned row_lanes = 1;  ///< rows that a block adds side by side
  unsigned chunks = 1;
};

inline ColumnSumShape column_sum_shape(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kRowsOfLane = 32;  // up to here one chunk is faster than many
  constexpr std::int64_t kBlocks = 512;     // of a large matrix: about four a multiprocessor
  static_assert(kBlocks <= kTickets);
  ColumnSumShape shape;
  shape.vector = columns % 4 == 0 ? 4 : 1;
  const std::int64_t vectors = columns / shape.vector;
  shape.tile = vectors <= 64 ? static_cast<unsigned>(std::max<std::int64_t>(vectors, 1)) : 32;
  shape.tiles = static_cast<unsigned>((vectors + shape.tile - 1) / shape.tile);
  shape.row_lanes = kBlock / shape.tile;
  const std::int64_t rows_of_lane = rows / shape.row_lanes;
  if (rows_of_lane > kRowsOfLane) {
    const std::int64_t most = std::max<std::int64_t>(kBlocks / std::max(shape.tiles, 1U), 1);
    shape.chunks = static_cast<unsigned>(std::min(rows_of_lane / 8, most));
  }
  return shape;
}

/// Rows of a matrix in memory, as column_sum() reads them: load() begins to read columns from `c`
/// on of row r, finish() returns what is added.
struct MatrixRows {
  const float* x;
  std::int64_t columns;
  bool aligned;

  template <int kVector>
  __device__ FloatVector<kVector> load(std::int64_t r, std::int64_t c) const {
    return load_vector<kVector>(x + r * columns + c, aligned);
  }
  template <int kVector>
  __device__ const FloatVector<kVector>& finish(const FloatVector<kVector>& loaded,
                                                std::int64_t /*r*/, std::int64_t /*c*/) const {
    return loaded;
  }
};

/// sums[c] = the sum over the rows from `begin` below `end`, for the block's columns.
template <int kVector, class Rows>
__device__ void sum_rows_of_block(const Rows& rows, std::int64_t begin, std::int64_t end,
                                  std::int64_t columns, unsigned tile, bool aligned, float* sums) {
  __shared__ float lanes[kBlock * kVector];
  constexpr int kAhead = 4;  // loads in flight
  const unsigned row_lanes = blockDim.x / tile;
  const unsigned lane = threadIdx.x / tile;
  const std::int64_t column =
      (static_cast<std::int64_t>(blockIdx.x) * tile + threadIdx.x % tile) * kVector;
  FloatVector<kVector> sum{};
  if (lane < row_lanes && column < columns) {
    std::int64_t r = begin + lane;
    for (; r + (kAhead - 1) * row_lanes < end; r += kAhead * row_lanes) {
      decltype(rows.template load<kVector>(r, column)) next[kAhead];
      for (int k = 0; k < kAhead; ++k) {
        next[k] = rows.template load<kVector>(r + k * row_lanes, column);
      }
      for (int k = 0; k < kAhead; ++k) {
        const FloatVector<kVector> row =
            rows.template finish<kVector>(next[k], r + k * row_lanes, column);
        for (int v = 0; v < kVector; ++v) sum[v] += row[v];
      }
    }
    for (; r < end; r += row_lanes) {
      const FloatVector<kVector> row =
          rows.template finish<kVector>(rows.template load<kVector>(r, column), r, column);
      for (int v = 0; v < kVector; ++v) sum[v] += row[v];
    }
  }
  for (int v = 0; v < kVector; ++v) lanes[v * kBlock + threadIdx.x] = sum[v];

  // Halve the lanes until one is left. The thread's own sum is in its register.
  unsigned left = row_lanes;
  while (left > 1) {
    const unsigned half = (left + 1) / 2;
    __syncthreads();
    if (lane + half < left) {
      for (int v = 0; v < kVector; ++v) {
        sum[v] += lanes[v * kBlock + threadIdx.x + half * tile];
        lanes[v * kBlock + threadIdx.x] = sum[v];
      }
    }
    left = half;
  }
  if (lane == 0 && column < columns) store_vector(sums + column, sum, aligned);
}

/// out[c] = the sum of column c. Blocks add a chunk of rows each to `partial` (chunks, columns),
/// and the last one of a tile adds these.
template <int kVector, class Rows>
__global__ void column_sum_kernel(Rows source, std::int64_t rows, std::int64_t columns,
                                  unsigned tile, bool aligned, float* out, float* partial,
                                  unsigned* tickets) {
  const unsigned chunks = gridDim.y;
  const std::int64_t chunk_rows = (rows + chunks - 1) / chunks;
  const std::int64_t begin = blockIdx.y * chunk_rows;
  const std::int64_t end = begin + chunk_rows < rows ? begin + chunk_rows : rows;
  float* sums = chunks == 1 ? out : partial + blockIdx.y * columns;
  sum_rows_of_block<kVector>(source, begin, end, columns, tile, aligned, sums);
  if (chunks > 1 && is_last_block(tickets + blockIdx.x, chunks)) {
    sum_rows_of_block<kVector>(MatrixRows{partial, columns, aligned}, 0, chunks, columns, tile,
                               aligned, out);
  }
}

/// Returns bytes of workspace that column_sum() needs for this shape; 0 where one launch does it.
inline std::size_t column_sum_workspace(std::int64_t rows, std::int64_t columns) {
  const unsigned chunks = column_sum_shape(rows, columns).chunks;
  return chunks == 1 ? 0 : sizeof(float) * chunks * static_cast<std::size_t>(columns);
}

/// out[c] = the sum of column c of `source`, such as MatrixRows, over its rows, 0 for no row: f32,
/// in an order that follows from the shape alone. Each element is loaded and finished once. One
/// launch, with sums of row ranges in `workspace` (column_sum_workspace() bytes). `name` is the
/// operator's, for errors.
template <class Rows>
void column_sum_of(const Args& args, const char* name, const Rows& source, std::int64_t rows,
                   std::int64_t columns, float* out, void* workspace) {
  if (columns == 0) return;
  const ColumnSumShape shape = column_sum_shape(rows, columns);
  auto* partial = static_cast<float*>(workspace);
  launch(args.stream, name, {.grid = dim3(shape.tiles, shape.chunks), .block = kBlock},
         shape.vector == 4 ? column_sum_kernel<4, Rows> : column_sum_kernel<1, Rows>, source, rows,
         columns, shape.tile, vector_aligned(out, shape.chunks > 1 ? partial : out), out, partial,
         args.tickets);
}

/// The same of a matrix in memory without gaps.
inline void column_sum(const Args& args, const char* name, const float* x, std::int64_t rows,
                       std::int64_t columns, float* out, void* workspace) {
  column_sum_of(args, name, MatrixRows{x, columns, vector_aligned(x)}, rows, columns, out,
                workspace);
}

/// Returns a node's kernel: y[c] = the sum over r of x[r, c].
inline Kernel column_sum_of_input(const char* name, std::int64_t rows, std::int64_t columns) {
  const auto enqueue = [=](const Args& args) {
    column_sum(args, name, args.in(kFirst), rows, columns, args.out(kFirst), args.workspace);
  };
  return {.enqueue = enqueue, .workspace_bytes = column_sum_workspace(rows, columns)};
}

}  // namespace linnet::cuda
