// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the threads of a block go over their part of a (rows, columns) matrix (column_tiles.h), and
// how what they have is added: over the rows of threads by shuffles and shared memory, and over
// blocks by the one that ends last.
#include <algorithm>
#include <cstdint>

#include "backend/cuda/column_tiles.h"
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "backend/cuda/last_block.cuh"
#include "backend/cuda/vectors.cuh"

namespace linnet::cuda {

/// Length of an array of the rows that a thread keeps; of none it has a row that nobody touches.
template <int kKept>
inline constexpr int kKeptRows = kKept > 0 ? kKept : 1;

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

  /// Calls use(row, load(row)) for the rows in order; all loads of kAhead rows, or of as many as
  /// are left, are on their way together.
  template <int kAhead, class Load, class Use>
  __device__ void for_rows_at_once(const Load& load, const Use& use) const {
    for (ColumnCell next = *this; next.first < end; next.first += kAhead * step) {
      decltype(load(first)) rows[kAhead];
      next.template load_kept<kAhead>(load, rows);
      next.template use_kept<kAhead>(use, rows);
    }
  }

  /// Where the sums of the block's rows go, of all chunks' (chunks, columns).
  __device__ std::int64_t place(const ColumnTiles& t) const {
    return blockIdx.y * t.columns + column;
  }
  /// Returns the thread's part of the chunks' sums, of which each is a row.
  __device__ ColumnCell of_chunks(const ColumnTiles& t) const {
    ColumnCell parts = *this;
    parts.begin = 0;
    parts.end = t.chunks;
    parts.first = inside ? threadIdx.x / t.lanes : parts.end;
    return parts;
  }
};

/// Adds each of `sums` (FloatVector<kVector>) over all threads of a block that share columns, in a
/// fixed order; every thread gets the results, and every thread must call it. The block has a whole
/// number of warps, at most kBlock threads where a row of them is wider than 128 bytes.
template <int kVector, class... Sum>
__device__ void add_over_rows(unsigned lanes, Sum&... sums) {
  constexpr unsigned kLane = static_cast<unsigned>(sizeof...(Sum)) * kVector;
  constexpr unsigned kMost = kVector == 1 ? kColumnBlock : kBlock;  // lanes of all warps
  constexpr unsigned kTeam = 8;  // threads that add one number's parts
  __shared__ float parts[kMost * kLane];
  __shared__ float totals[kWarp * kLane];
  for (unsigned offset = lanes; offset < kWarp; offset *= 2) {
    for (int v = 0; v < kVector; ++v) {
      ((sums[v] += __shfl_xor_sync(kFullWarp, sums[v], offset)), ...);
    }
  }
  const unsigned warps = blockDim.x / kWarp;
  const unsigned lane = threadIdx.x & (lanes - 1);
  const unsigned numbers = lanes * kLane;
  if (threadIdx.x % kWarp < lanes) {
    float* to = parts + threadIdx.x / kWarp * numbers + lane * kLane;
    for (int v = 0; v < kVector; ++v) ((*to++ = sums[v]), ...);
  }
  __syncthreads();
  const unsigned member = threadIdx.x % kTeam;
  for (unsigned from = 0; from < numbers; from += blockDim.x / kTeam) {
    const unsigned number = from + threadIdx.x / kTeam;
    float total = 0;
#pragma unroll 1  // there are two parts at most
    for (unsigned w = member; number < numbers && w < warps; w += kTeam) {
      total += parts[w * numbers + number];
    }
    for (unsigned offset = kTeam / 2; offset > 0; offset /= 2) {
      total += __shfl_xor_sync(kFullWarp, total, offset);
    }
    if (member == 0 && number < numbers) totals[number] = total;
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
  struct Parts {
    FloatVector<kVector> of[sizeof...(Sum)];
  };
  ((sums = {}), ...);
  cell.of_chunks(t).template for_rows_at_once<8 / sizeof...(Sum)>(
      [&](std::int64_t chunk) {
        Parts parts;
        const float* from = partial + chunk * t.columns + cell.column;
        for (auto& part : parts.of) {
          part = load_vector<kVector>(from);
          from += apart;
        }
        return parts;
      },
      [&](std::int64_t /*chunk*/, const Parts& parts) {
        const auto* part = parts.of;
        const auto add = [&](FloatVector<kVector>& sum) {
          for (int v = 0; v < kVector; ++v) sum[v] += (*part)[v];
          ++part;
        };
        (add(sums), ...);
      });
  add_over_rows<kVector>(t.lanes, sums...);
  return true;
}

}  // namespace linnet::cuda
