// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/conv2d/geometry_cuda.cuh"

// C[m, n] = sum over k of A[m, k] B[k, n], a tile a block, where A and B are read from images and
// weights as if they were matrices. An operand says how:
//   kAlongK        whether its four neighbours in memory follow k, or its own lines (m or n);
//   line(i)        what is known of line i (or lines i .. i + 3) for the whole sum;
//   column(k)      what is known of column k (or columns k .. k + 3) for all lines;
//   load(line, column)   the four elements, zeros outside.

namespace linnet::cuda {

inline constexpr int kProductThreads = 256;
inline constexpr int kProductDepth = 16;  ///< k of one stage in shared memory

/// Lines of A and of B that a block multiplies; a thread has kM x kN of their products.
template <int kRowsOfTile, int kColumnsOfTile, int kEach>
struct Tile {
  static constexpr int kRows = kRowsOfTile;
  static constexpr int kColumns = kColumnsOfTile;
  static constexpr int kSide = kEach;  ///< of a thread's square: 4 or 8
  static constexpr int kFours = kEach / 4;
  static_assert(kRows / kSide * (kColumns / kSide) == kProductThreads);
};

struct KRange {
  std::int64_t begin;
  std::int64_t end;
};

/// Carries an operand's tiles from device memory over registers into shared memory.
template <class Operand, int kLines>
class TileReader {
 public:
  __device__ TileReader(const Operand& operand, std::int64_t first_line, int thread)
      : operand_(operand) {
    constexpr int kPerLine = Operand::kAlongK ? kProductDepth / 4 : kLines / 4;
    const int fast = thread % kPerLine * 4;
    const int slow = thread / kPerLine;
    k_ = Operand::kAlongK ? fast : slow;
    line_ = Operand::kAlongK ? slow : fast;
    active_ = thread < kLines * kProductDepth / 4;
    for (int i = 0; i < kKept; ++i) lines_[i] = operand_.line(first_line + line_ + i * kStep);
  }

  __device__ void fetch(std::int64_t k0, std::int64_t end) {
    if (!active_) return;
    if constexpr (Operand::kAlongK) {
      const auto column = operand_.column(k0 + k_);
#pragma unroll
      for (int i = 0; i < kPasses; ++i) values_[i] = operand_.load(lines_[i], column);
    } else {
#pragma unroll
      for (int i = 0; i < kPasses; ++i) {
        const std::int64_t k = k0 + k_ + i * kStep;
        values_[i] = make_float4(0, 0, 0, 0);
        if (k < end) values_[i] = operand_.load(lines_[0], operand_.column(k));
      }
    }
  }

  template <class Shared>
  __device__ void put(Shared& tile) const {
    if (!active_) return;
#pragma unroll
    for (int i = 0; i < kPasses; ++i) {
      if constexpr (Operand::kAlongK) {
        const int line = line_ + i * kStep;
        tile[k_][line] = values_[i].x;
        tile[k_ + 1][line] = values_[i].y;
        tile[k_ + 2][line] = values_[i].z;
        tile[k_ + 3][line] = values_[i].w;
      } else {
        *reinterpret_cast<float4*>(&tile[k_ + i * kStep][line_]) = values_[i];
      }
    }
  }

 private:
  static constexpr int kFoursOfTile = kLines * kProductDepth / 4;
  static constexpr int kPasses =
      kFoursOfTile > kProductThreads ? kFoursOfTile / kProductThreads : 1;
  static constexpr int kKept = Operand::kAlongK ? kPasses : 1;
  /// From one pass to the next: lines along k, columns otherwise.
  static constexpr int kStep =
      Operand::kAlongK ? kProductThreads / (kProductDepth / 4) : kProductThreads / (kLines / 4);

  Operand operand_;
  typename Operand::Line lines_[kKept];
  float4 values_[kPasses];
  int k_ = 0;
  int line_ = 0;
  bool active_ = true;
};

/// Four floats of shared memory into registers.
__device__ inline void read_four(const float* from, float* to) {
  const float4 value = *reinterpret_cast<const float4*>(from);
  to[0] = value.x;
  to[1] = value.y;
  to[2] = value.z;
  to[3] = value.w;
}

/// grid.x: tiles of m; grid.y: tiles of n; grid.z: whatever the problem takes it for.
template <class Problem, class T>
__global__ void conv_product(Problem problem) {
  constexpr int kSide = T::kSide;
  constexpr int kAcross = T::kColumns / kSide;  // threads beside each other
  alignas(16) __shared__ float a_tiles[2][kProductDepth][T::kRows + 4];
  alignas(16) __shared__ float b_tiles[2][kProductDepth][T::kColumns + 4];
  const int z = static_cast<int>(blockIdx.z);
  const int thread = static_cast<int>(threadIdx.x);
  const int tx = thread % kAcross;
  const int ty = thread / kAcross;
  const std::int64_t m0 = static_cast<std::int64_t>(blockIdx.x) * T::kRows;
  const int n0 = static_cast<int>(blockIdx.y) * T::kColumns;
  const KRange range = problem.range(z);
  TileReader<typename Problem::A, T::kRows> a(problem.a(z), m0, thread);
  TileReader<typename Problem::B, T::kColumns> b(problem.b(z), n0, thread);

  float sums[kSide][kSide] = {};
  int buffer = 0;
  a.fetch(range.begin, range.end);
  b.fetch(range.begin, range.end);
  a.put(a_tiles[0]);
  b.put(b_tiles[0]);
  __syncthreads();
  for (std::int64_t k = range.begin; k < range.end; k += kProductDepth) {
    const bool more = k + kProductDepth < range.end;
    if (more) {
      a.fetch(k + kProductDepth, range.end);
      b.fetch(k + kProductDepth, range.end);
    }
#pragma unroll
    for (int d = 0; d < kProductDepth; ++d) {
      float left[kSide];
      float right[kSide];
#pragma unroll
      for (int f = 0; f < T::kFours; ++f) {
        read_four(&a_tiles[buffer][d][f * (T::kRows / T::kFours) + ty * 4], left + 4 * f);
        read_four(&b_tiles[buffer][d][f * (T::kColumns / T::kFours) + tx * 4], right + 4 * f);
      }
#pragma unroll
      for (int i = 0; i < kSide; ++i) {
#pragma unroll
        for (int j = 0; j < kSide; ++j) sums[i][j] += left[i] * right[j];
      }
    }
    buffer ^= 1;
    if (more) {
      a.put(a_tiles[buffer]);
      b.put(b_tiles[buffer]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kSide; ++i) {
    const std::int64_t m = m0 + i / 4 * (T::kRows / T::kFours) + ty * 4 + i % 4;
#pragma unroll
    for (int f = 0; f < T::kFours; ++f) {
      const int n = n0 + f * (T::kColumns / T::kFours) + tx * 4;
      problem.store(z, m, n,
                    make_float4(sums[i][4 * f], sums[i][4 * f + 1], sums[i][4 * f + 2],
                                sums[i][4 * f + 3]));
    }
  }
}

/// Puts up to `count` of the four; all at once where `vector`.
__device__ inline void store_four(float* to, int count, bool vector, float4 value) {
  if (vector && count >= 4) {
    *reinterpret_cast<float4*>(to) = value;
    return;
  }
  if (count > 0) to[0] = value.x;
  if (count > 1) to[1] = value.y;
  if (count > 2) to[2] = value.z;
  if (count > 3) to[3] = value.w;
}

}  // namespace linnet::cuda
