// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the kernels of a batch norm go over a (rows, channels) matrix.
#include <cstdint>
#include <optional>

#include "backend/cuda/cluster.cuh"
#include "backend/cuda/device.cuh"
#include "backend/cuda/last_block.cuh"
#include "backend/cuda/vectors.cuh"

namespace linnet::cuda {

/// The largest block of a norm's kernels.
inline constexpr unsigned kNormBlock = 512;

/// A block takes `lanes` vectors of neighbouring channels (128 bytes of a row where there are as
/// many) and one of `chunks` equal ranges of rows. All follows from the shape.
struct NormTiles {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  int vector = 1;      ///< floats that a thread loads at once: 4 or 1
  unsigned lanes = 1;  ///< threads side by side: a power of two, at most a warp
  unsigned tiles = 0;  ///< blocks side by side
  unsigned chunks = 1;
  unsigned block = kBlock;
  bool cluster = false;  ///< whether the blocks of a tile run together (cluster.cuh)

  void set_lanes(unsigned count) {
    lanes = count;
    tiles = static_cast<unsigned>((channels / vector + lanes - 1) / lanes);
  }
  LaunchShape shape() const {
    return {.grid = dim3(tiles, chunks), .block = block, .cluster = cluster ? chunks : 1};
  }
};

/// `rows_each`: how many rows a thread should have, so that sums outweigh their reduction.
inline NormTiles norm_tiles(std::int64_t rows, std::int64_t channels, std::int64_t rows_each,
                            std::int64_t most_blocks) {
  NormTiles t{.rows = rows, .channels = channels, .vector = channels % 4 == 0 ? 4 : 1};
  const unsigned most_lanes = kWarp / static_cast<unsigned>(t.vector);
  while (t.lanes < most_lanes && t.lanes < channels / t.vector) t.lanes *= 2;
  t.set_lanes(t.lanes);
  const std::int64_t rows_of_block = rows_each * (kBlock / t.lanes);
  const std::int64_t most = std::max<std::int64_t>(most_blocks / std::max(t.tiles, 1U), 1);
  t.chunks = static_cast<unsigned>(
      std::clamp<std::int64_t>(rows / rows_of_block, 1, std::min<std::int64_t>(most, 65535)));
  return t;
}

/// Returns tiles by which one launch computes sums and what follows from them, where it is no
/// slower than two: few rows by a block, more by the blocks of a cluster. `passes` are reads and
/// writes of an image. One launch saves a node of the graph and costs a wait of the cluster. It
/// takes longer where its blocks are too few, and where it reads parts of lines of images that
/// leave the L2 cache.
inline std::optional<NormTiles> tiles_of_one_launch(std::int64_t rows, std::int64_t channels,
                                                    int compute_capability, int passes) {
  constexpr std::int64_t kRowsOfBlock = 1024;           // a block finds them in the cache again
  constexpr std::int64_t kImageOfCache = 32 << 20;      // bytes; an H100's L2 cache has 50 MB
  constexpr double kMultiprocessors = 132;              // of an H100 or H200
  constexpr double kBytes = 4.3e12 / kMultiprocessors;  // its share of the memory's, a second
  constexpr double kMost = 2;                           // shares: 64 bytes a clock would be three
  constexpr double kSaved = 1.3e-6 - 0.5e-6;            // a node (gpu_kinds.cpp), a wait (a guess)
  NormTiles t = norm_tiles(rows, channels, 1, 1);
  if (rows <= kRowsOfBlock) return t;
  if (compute_capability < kClusterCapability) return std::nullopt;
  t.cluster = true;
  t.chunks = kCluster;
  t.block = kNormBlock;
  const unsigned whole_lines = t.lanes;
  const auto multiprocessors = [&] {
    return std::min(kMost * t.tiles * t.chunks, kMultiprocessors);
  };
  while (t.lanes * static_cast<unsigned>(t.vector) > 8 && multiprocessors() < kMultiprocessors) {
    t.set_lanes(t.lanes / 2);
  }
  const double image = static_cast<double>(sizeof(float)) * static_cast<double>(rows * channels);
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

/// Makes the sums of all chunks visible to the block; false where another block goes on with them:
/// kWhole, a launch of clusters: all go on, else the last one of a tile of channels.
template <bool kWhole>
__device__ bool gather_chunks(const NormTiles& t, const Partials& p) {
  if constexpr (kWhole) {
    cluster_barrier();
    return true;
  } else {
    return is_last_block(p.tickets + blockIdx.x, t.chunks);
  }
}

/// The part of a matrix that one thread goes over: rows first, first + step, ... below `end`.
template <int kVector>
struct NormCell {
  std::int64_t channel;  ///< the first of kVector
  std::int64_t begin;    ///< of the block's rows
  std::int64_t end;
  std::int64_t first;
  std::int64_t step;
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
};

/// Adds a and b over all threads of a block that share channels, in a fixed order; every thread
/// gets the sums, and every thread must call it. The block has a whole number of warps.
template <int kVector>
__device__ void add_over_rows(unsigned lanes, FloatVector<kVector>& a, FloatVector<kVector>& b) {
  constexpr int kLane = 2 * kVector;
  constexpr int kWarps = kNormBlock / kWarp;
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
