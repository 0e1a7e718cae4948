// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the kernels of a batch norm go over a (rows, channels) matrix.
#include <cstdint>

#include "backend/cuda/device.cuh"
#include "backend/cuda/vectors.cuh"

namespace linnet::cuda {

/// A block of kBlock threads takes `lanes` vectors of neighbouring channels (128 bytes of a row
/// where there are as many) and one of `chunks` equal ranges of rows. All follows from the shape.
struct NormTiles {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  int vector = 1;      ///< floats that a thread loads at once: 4 or 1
  unsigned lanes = 1;  ///< threads side by side: a power of two, at most a warp
  unsigned tiles = 0;  ///< blocks side by side
  unsigned chunks = 1;

  LaunchShape shape() const { return {.grid = dim3(tiles, chunks), .block = kBlock}; }
};

/// `rows_each`: how many rows a thread should have, so that sums outweigh their reduction.
inline NormTiles norm_tiles(std::int64_t rows, std::int64_t channels, std::int64_t rows_each,
                            std::int64_t most_blocks) {
  NormTiles t{.rows = rows, .channels = channels, .vector = channels % 4 == 0 ? 4 : 1};
  const std::int64_t vectors = channels / t.vector;
  const unsigned most_lanes = kWarp / static_cast<unsigned>(t.vector);
  while (t.lanes < most_lanes && t.lanes < vectors) t.lanes *= 2;
  t.tiles = static_cast<unsigned>((vectors + t.lanes - 1) / t.lanes);
  const std::int64_t rows_of_block = rows_each * (kBlock / t.lanes);
  const std::int64_t most = std::max<std::int64_t>(most_blocks / std::max(t.tiles, 1U), 1);
  t.chunks = static_cast<unsigned>(
      std::clamp<std::int64_t>(rows / rows_of_block, 1, std::min<std::int64_t>(most, 65535)));
  return t;
}

/// Describes where two numbers of each channel lie by chunks of rows:
/// first[chunk * channels + channel]. The last block of a tile of channels
/// joins them.
struct Partials {
  float* first = nullptr;
  float* second = nullptr;
  unsigned* tickets = nullptr;  ///< one for each tile
};

/// The part of a matrix that one thread goes over: rows first, first + step, ... below `end`.
template <int kVector>
struct NormCell {
  std::int64_t channel;  ///< the first of kVector
  std::int64_t begin;    ///< of the block's rows
  std::int64_t end;
  std::int64_t first;
  unsigned step;
  bool inside;  ///< whether it has such channels

  __device__ explicit NormCell(const NormTiles& t) {
    const std::int64_t lane = threadIdx.x % t.lanes;
    channel = (static_cast<std::int64_t>(blockIdx.x) * t.lanes + lane) * kVector;
    inside = channel < t.channels;
    begin = t.rows * blockIdx.y / gridDim.y;
    end = t.rows * (blockIdx.y + 1) / gridDim.y;
    first = begin + threadIdx.x / t.lanes;
    step = blockDim.x / t.lanes;
    if (!inside) first = end;
  }
  /// Returns whether this thread stands for its channels: the first of those that share them.
  __device__ bool leads(const NormTiles& t) const { return inside && threadIdx.x < t.lanes; }
};

/// Adds a and b over all threads of a block that share channels, in a fixed order; every thread
/// gets the sums, and every thread must call it. The block has a whole number of warps, at most 32.
template <int kVector, int kWarps>
__device__ void add_over_rows(unsigned lanes, FloatVector<kVector>& a, FloatVector<kVector>& b) {
  constexpr int kLane = 2 * kVector;
  __shared__ float sums[kWarps * kWarp / kVector * kLane];
  for (unsigned offset = lanes; offset < kWarp; offset *= 2) {
    for (int v = 0; v < kVector; ++v) {
      a[v] += __shfl_xor_sync(kFullWarp, a[v], offset);
      b[v] += __shfl_xor_sync(kFullWarp, b[v], offset);
    }
  }
  const unsigned lane = threadIdx.x % lanes;
  const unsigned warp = threadIdx.x / kWarp;
  if (threadIdx.x % kWarp < lanes) {
    float* to = sums + (warp * lanes + lane) * kLane;
    for (int v = 0; v < kVector; ++v) {
      to[v] = a[v];
      to[kVector + v] = b[v];
    }
  }
  __syncthreads();
  a = {};
  b = {};
  for (unsigned w = 0; w < blockDim.x / kWarp; ++w) {
    const float* from = sums + (w * lanes + lane) * kLane;
    for (int v = 0; v < kVector; ++v) {
      a[v] += from[v];
      b[v] += from[kVector + v];
    }
  }
}

}  // namespace linnet::cuda
