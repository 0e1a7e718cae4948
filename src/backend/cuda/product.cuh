// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/vectors.cuh"

// C[m, n] = sum over k of A[m, k] B[k, n], a tile a block, for matrices and for images and weights
// that are read as if they were matrices. An operand says how:
//   along_k()      whether its four neighbours in memory follow k, or its own lines (m or n);
//   line(i)        what is known of line i (or lines i .. i + 3) for the whole sum: a Line;
//   column(k)      what is known of column k (or columns k .. k + 3) for all lines;
//   load(line, column)   the four elements, zeros outside.

namespace linnet::cuda {

inline constexpr int kProductThreads = 256;

/// Lines of A and of B that a block multiplies, kDepth terms at a time; a thread has kSide x kSide
/// of their products: runs of kRun lines, the runs of all threads beside each other.
template <int kRowsOfTile, int kColumnsOfTile, int kEach, int kDeep = 16>
struct Tile {
  static constexpr int kRows = kRowsOfTile;
  static constexpr int kColumns = kColumnsOfTile;
  static constexpr int kDepth = kDeep;
  static constexpr int kSide = kEach;  ///< of a thread's square: 2, 4 or 8
  static constexpr int kRun = kEach < 4 ? kEach : 4;
  static constexpr int kAcross = kColumns / kSide;  ///< threads beside each other
  static_assert(kRows / kSide * kAcross == kProductThreads);

  /// Returns the tile's row of this thread's row i, and the column of its column j.
  __device__ static int row(int i) { return place(i, kRows, thread() / kAcross); }
  __device__ static int column(int j) { return place(j, kColumns, thread() % kAcross); }

 private:
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int place(int i, int lines, int lane) {
    return i / kRun * (lines / (kSide / kRun)) + lane * kRun + i % kRun;
  }
};

struct KRange {
  std::int64_t begin;
  std::int64_t end;
};

/// The first `count` of four neighbours; all at once where `vectors`. Zeros are loaded for others.
__device__ inline FloatVector<4> load_some(const float* from, std::int64_t count, bool vectors) {
  if (vectors && count >= 4) return load_vector<4>(from);
  FloatVector<4> four;
  for (int v = 0; v < 4; ++v) four[v] = v < count ? from[v] : 0.0F;
  return four;
}
__device__ inline void store_some(float* to, int count, bool vectors, const FloatVector<4>& four) {
  if (vectors && count >= 4) return store_vector(to, four);
  for (int v = 0; v < 4 && v < count; ++v) to[v] = four[v];
}

/// A matrix as it lies in memory. Its lines are its stored rows (`along`) or columns.
struct MatrixOperand {
  using Line = std::int64_t;

  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;  ///< from row to row
  bool along = false;
  bool vectors = false;  ///< whether four neighbours of a row can be read at once

  __device__ bool along_k() const { return along; }
  __device__ std::int64_t line(std::int64_t i) const { return i; }
  __device__ std::int64_t column(std::int64_t k) const { return k; }
  __device__ FloatVector<4> load(std::int64_t line, std::int64_t column) const {
    const std::int64_t row = along ? line : column;
    const std::int64_t first = along ? column : line;
    return load_some(data + row * stride + first, row < rows ? columns - first : 0, vectors);
  }
};

/// Carries an operand's tiles from device memory over registers into shared memory.
template <class Operand, int kLines, int kDepth>
class TileReader {
 public:
  __device__ TileReader(const Operand& operand, std::int64_t first_line) : operand_(operand) {
    const int thread = static_cast<int>(threadIdx.x);
    const int each = operand.along_k() ? kDepth / 4 : kLines / 4;
    k_ = operand.along_k() ? thread % each * 4 : thread / each;
    line_ = operand.along_k() ? thread / each : thread % each * 4;
    active_ = kFours >= kProductThreads || thread < kFours;
#pragma unroll
    for (int i = 0; i < kPasses; ++i) {
      lines_[i] = operand_.line(first_line + line_ + i * kLineStep);
    }
  }

  __device__ void fetch(std::int64_t k0, std::int64_t end) {
    if (!active_) return;
    if (operand_.along_k()) {
      const auto column = operand_.column(k0 + k_);
#pragma unroll
      for (int i = 0; i < kPasses; ++i) values_[i] = operand_.load(lines_[i], column);
    } else {
#pragma unroll
      for (int i = 0; i < kPasses; ++i) {
        const std::int64_t k = k0 + k_ + i * kTermStep;
        values_[i] = k < end ? operand_.load(lines_[0], operand_.column(k)) : FloatVector<4>{};
      }
    }
  }

  __device__ void put(float (*tile)[kLines + 4]) const {
    if (!active_) return;
#pragma unroll
    for (int i = 0; i < kPasses; ++i) {
      if (operand_.along_k()) {
        const int line = line_ + i * kLineStep;
        for (int v = 0; v < 4; ++v) tile[k_ + v][line] = values_[i][v];
      } else {
        store_vector(&tile[k_ + i * kTermStep][line_], values_[i]);
      }
    }
  }

 private:
  static constexpr int kFours = kLines * kDepth / 4;
  static constexpr int kLineStep = kProductThreads / (kDepth / 4);  ///< of a pass along k
  static constexpr int kTermStep = kProductThreads / (kLines / 4);  ///< of any other pass
  static constexpr int kPasses = kFours > kProductThreads ? kFours / kProductThreads : 1;

  Operand operand_;
  typename Operand::Line lines_[kPasses];
  FloatVector<4> values_[kPasses] = {};
  int k_ = 0;
  int line_ = 0;
  bool active_ = true;
};

/// put(row, column, sum) for this thread's sums of the tile that begins at (m0, n0).
template <class T, class Put>
__device__ void for_sums(std::int64_t m0, std::int64_t n0, const float (&sums)[T::kSide][T::kSide],
                         Put put) {
#pragma unroll
  for (int i = 0; i < T::kSide; ++i) {
#pragma unroll
    for (int j = 0; j < T::kSide; ++j) put(m0 + T::row(i), n0 + T::column(j), sums[i][j]);
  }
}

/// The sums of this thread's products of the tile that begins at (m0, n0), over the terms of
/// `range`, by fmaf in their order. The next tiles are read from memory while those in shared
/// memory are multiplied. Operands along k are cut at multiples of the depth, or where they end.
template <class T, class A, class B>
__device__ void sum_product(const A& a_operand, const B& b_operand, std::int64_t m0,
                            std::int64_t n0, KRange range, float (&sums)[T::kSide][T::kSide]) {
  alignas(16) __shared__ float a_tiles[2][T::kDepth][T::kRows + 4];
  alignas(16) __shared__ float b_tiles[2][T::kDepth][T::kColumns + 4];
  TileReader<A, T::kRows, T::kDepth> a(a_operand, m0);
  TileReader<B, T::kColumns, T::kDepth> b(b_operand, n0);
  int buffer = 0;
  a.fetch(range.begin, range.end);
  b.fetch(range.begin, range.end);
  for (std::int64_t k = range.begin; k < range.end; k += T::kDepth) {
    a.put(a_tiles[buffer]);
    b.put(b_tiles[buffer]);
    __syncthreads();  // one is enough: the other half was read before this one was stored
    if (k + T::kDepth < range.end) {
      a.fetch(k + T::kDepth, range.end);
      b.fetch(k + T::kDepth, range.end);
    }
#pragma unroll
    for (int d = 0; d < T::kDepth; ++d) {
      float left[T::kSide];
      float right[T::kSide];
#pragma unroll
      for (int i = 0; i < T::kSide; i += T::kRun) {
        const auto rows = load_vector<T::kRun>(&a_tiles[buffer][d][T::row(i)]);
        const auto columns = load_vector<T::kRun>(&b_tiles[buffer][d][T::column(i)]);
#pragma unroll
        for (int v = 0; v < T::kRun; ++v) {
          left[i + v] = rows[v];
          right[i + v] = columns[v];
        }
      }
#pragma unroll
      for (int i = 0; i < T::kSide; ++i) {
#pragma unroll
        for (int j = 0; j < T::kSide; ++j) sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
      }
    }
    buffer ^= 1;
  }
}

}  // namespace linnet::cuda
