// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernels of MatmulPlan: tiles through shared memory, for whatever fills them.
#include <cstdint>

#include "backend/cuda/matmul_thin.cuh"

namespace linnet::cuda {

/// Both operands' tiles hold 1024 values: four of each for a thread of a block of 256.
inline constexpr int kTileValues = 1024;

/// One operand as a block walks through it: `outer` and `inner` are its stored rows and columns.
struct TileSource {
  const float* data = nullptr;
  std::int64_t stride = 0;
  std::int64_t outer = 0;
  std::int64_t inner = 0;
  bool along_terms = false;  ///< whether neighbours in memory are terms of k, not rows or columns
  bool vectors = false;      ///< whether four neighbours can be read at once
};

/// Four neighbours in memory, 0 outside of the matrix (or from `outer_end` on).
__device__ inline float4 read_four(const TileSource& source, std::int64_t outer, std::int64_t inner,
                                   std::int64_t outer_end, std::int64_t inner_end) {
  float4 four = make_float4(0, 0, 0, 0);
  if (outer >= outer_end || inner >= inner_end) return four;
  const float* from = source.data + outer * source.stride + inner;
  if (source.vectors && inner + 4 <= inner_end) return *reinterpret_cast<const float4*>(from);
  four.x = from[0];
  if (inner + 1 < inner_end) four.y = from[1];
  if (inner + 2 < inner_end) four.z = from[2];
  if (inner + 3 < inner_end) four.w = from[3];
  return four;
}

/// This thread's four values of the tile that begins at `first` (row of A or column of B) and
/// `term`; terms from `term_end` on count as 0.
template <int kTile>
__device__ float4 read_tile(const TileSource& source, std::int64_t first, std::int64_t term,
                            std::int64_t term_end) {
  constexpr int kTerms = kTileValues / kTile;
  const int thread = static_cast<int>(threadIdx.x);
  if (source.along_terms) {
    return read_four(source, first + thread / (kTerms / 4), term + thread % (kTerms / 4) * 4,
                     source.outer, term_end);
  }
  return read_four(source, term + thread / (kTile / 4), first + thread % (kTile / 4) * 4, term_end,
                   source.inner);
}

/// Puts them where term t of row or column i is at [t][i], whatever the order in memory.
template <int kTile>
__device__ void store_tile(float (*tile)[kTile + 4], bool along_terms, const float4& four) {
  constexpr int kTerms = kTileValues / kTile;
  const int thread = static_cast<int>(threadIdx.x);
  if (along_terms) {
    const int i = thread / (kTerms / 4);
    const int t = thread % (kTerms / 4) * 4;
    tile[t][i] = four.x;
    tile[t + 1][i] = four.y;
    tile[t + 2][i] = four.z;
    tile[t + 3][i] = four.w;
  } else {
    float* to = &tile[thread / (kTile / 4)][thread % (kTile / 4) * 4];
    *reinterpret_cast<float4*>(to) = four;
  }
}

/// A thread's rows (or columns) of the tile: runs of kRun, each run 64 after the last.
template <int kTile>
struct ThreadShare {
  static constexpr int kCount = kTile / 16;
  static constexpr int kRun = kCount < 4 ? kCount : 4;
  __device__ static int at(int index, int lane) {
    return index / kRun * 64 + lane * kRun + index % kRun;
  }
};

template <int kTile>
__device__ void read_share(const float* row, int lane, float (&values)[kTile / 16]) {
  using Share = ThreadShare<kTile>;
#pragma unroll
  for (int i = 0; i < Share::kCount; i += Share::kRun) {
    const float* from = row + Share::at(i, lane);
    if constexpr (Share::kRun == 4) {
      const float4 four = *reinterpret_cast<const float4*>(from);
      values[i] = four.x;
      values[i + 1] = four.y;
      values[i + 2] = four.z;
      values[i + 3] = four.w;
    } else {
      const float2 two = *reinterpret_cast<const float2*>(from);
      values[i] = two.x;
      values[i + 1] = two.y;
    }
  }
}

/// The calling block's tile of C, begun at (row0, column0), over the terms [begin, end):
/// each thread gets the sums of its share. The next tiles are read from memory while those in
/// shared memory are multiplied. Blocks of 256.
template <int kTile>
__device__ void sum_tile(const TileSource& a_source, const TileSource& b_source, std::int64_t row0,
                         std::int64_t column0, std::int64_t begin, std::int64_t end,
                         float (&sums)[kTile / 16][kTile / 16]) {
  constexpr int kTerms = kTileValues / kTile;
  constexpr int kCount = kTile / 16;
  alignas(16) __shared__ float a_tiles[2][kTerms][kTile + 4];
  alignas(16) __shared__ float b_tiles[2][kTerms][kTile + 4];
  const int row_lane = static_cast<int>(threadIdx.x) / 16;
  const int column_lane = static_cast<int>(threadIdx.x) % 16;
  float4 a_next = read_tile<kTile>(a_source, row0, begin, end);
  float4 b_next = read_tile<kTile>(b_source, column0, begin, end);
  int half = 0;
  for (std::int64_t term = begin; term < end; term += kTerms) {
    store_tile<kTile>(a_tiles[half], a_source.along_terms, a_next);
    store_tile<kTile>(b_tiles[half], b_source.along_terms, b_next);
    __syncthreads();  // one is enough: the other half was read before this one was stored
    if (term + kTerms < end) {
      a_next = read_tile<kTile>(a_source, row0, term + kTerms, end);
      b_next = read_tile<kTile>(b_source, column0, term + kTerms, end);
    }
#pragma unroll
    for (int t = 0; t < kTerms; ++t) {
      float a[kCount];
      float b[kCount];
      read_share<kTile>(a_tiles[half][t], row_lane, a);
      read_share<kTile>(b_tiles[half][t], column_lane, b);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
#pragma unroll
        for (int j = 0; j < kCount; ++j) sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
      }
    }
    half ^= 1;
  }
}

/// put(row, column, sum) for the thread's share of the tile.
template <int kTile, class Put>
__device__ void for_share(std::int64_t row0, std::int64_t column0,
                          const float (&sums)[kTile / 16][kTile / 16], Put put) {
  using Share = ThreadShare<kTile>;
  const int row_lane = static_cast<int>(threadIdx.x) / 16;
  const int column_lane = static_cast<int>(threadIdx.x) % 16;
#pragma unroll
  for (int i = 0; i < Share::kCount; ++i) {
#pragma unroll
    for (int j = 0; j < Share::kCount; ++j) {
      put(row0 + Share::at(i, row_lane), column0 + Share::at(j, column_lane), sums[i][j]);
    }
  }
}

struct TileArgs {
  TileSource a;
  TileSource b;
  MatmulOutput out;
  std::int64_t terms = 0;
  std::int64_t split_terms = 0;
  std::int64_t column_tiles = 0;
};

/// Block (tile, split): one tile of C over one part of k.
template <int kTile, class Epilogue>
__global__ void __launch_bounds__(256) tile_kernel(TileArgs args, Epilogue epilogue) {
  const std::int64_t row0 = blockIdx.x / args.column_tiles * kTile;
  const std::int64_t column0 = blockIdx.x % args.column_tiles * kTile;
  const std::int64_t begin = blockIdx.y * args.split_terms;
  const std::int64_t end =
      begin + args.split_terms < args.terms ? begin + args.split_terms : args.terms;
  float sums[kTile / 16][kTile / 16] = {};
  sum_tile<kTile>(args.a, args.b, row0, column0, begin, end, sums);
  for_share<kTile>(row0, column0, sums, [&](std::int64_t row, std::int64_t column, float sum) {
    args.out.put(row, column, blockIdx.y, sum, epilogue);
  });
}

inline bool reads_by_four(const float* data, std::int64_t stride) {
  return stride % 4 == 0 && reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}

template <int kTile, class Epilogue>
void launch_tiles(const MatmulPlan& plan, const MatmulOperands& operands, Epilogue epilogue) {
  const MatrixProduct& p = plan.product;
  const std::int64_t column_tiles = (p.n + kTile - 1) / kTile;
  const TileArgs args{.a = {.data = operands.a,
                            .stride = p.stride_a(),
                            .outer = p.transpose_a ? p.k : p.m,
                            .inner = p.transpose_a ? p.m : p.k,
                            .along_terms = !p.transpose_a,
                            .vectors = reads_by_four(operands.a, p.stride_a())},
                      .b = {.data = operands.b,
                            .stride = p.stride_b(),
                            .outer = p.transpose_b ? p.n : p.k,
                            .inner = p.transpose_b ? p.k : p.n,
                            .along_terms = p.transpose_b,
                            .vectors = reads_by_four(operands.b, p.stride_b())},
                      .out = MatmulOutput(plan, operands),
                      .terms = p.k,
                      .split_terms = plan.split_terms,
                      .column_tiles = column_tiles};
  const auto tiles = static_cast<unsigned>((p.m + kTile - 1) / kTile * column_tiles);
  launch(operands.stream, "matmul_tiles",
         {.grid = dim3(tiles, static_cast<unsigned>(plan.splits)), .block = 256},
         tile_kernel<kTile, Epilogue>, args, epilogue);
}

/// Launches the plan's kernels: one, or two where k is split.
template <class Epilogue>
void enqueue_matmul(const MatmulPlan& plan, const MatmulOperands& operands, Epilogue epilogue) {
  switch (plan.kind) {
    case MatmulPlan::Kind::empty: return;
    case MatmulPlan::Kind::dots: return launch_dots(plan, operands, epilogue);
    case MatmulPlan::Kind::thin_sums: launch_thin_sums(plan, operands, epilogue); break;
    case MatmulPlan::Kind::tiles:
      if (plan.tile == 128) launch_tiles<128>(plan, operands, epilogue);
      if (plan.tile == 64) launch_tiles<64>(plan, operands, epilogue);
      if (plan.tile == 32) launch_tiles<32>(plan, operands, epilogue);
      break;
  }
  if (plan.splits > 1) launch_split_sum(plan, operands, epilogue);
}

}  // namespace linnet::cuda
