// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "backend/cuda/last_block.cuh"
#include "backend/cuda/vectors.cuh"

namespace linnet::cuda {

inline constexpr int kFoldedVectors = 128;  ///< of a row that column_fold() makes, at most

/// How column_sum() cuts a matrix: a block takes `across` vectors of neighbouring columns and one
/// of `chunks` ranges of rows, `at_once` of them at a time. All follows from the shape.
struct ColumnSums {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  int vector = 1;          ///< floats that a thread loads at once: 4 or 1
  unsigned fold = 1;       ///< parts of a row that are added to each other at the end
  unsigned across = 1;     ///< threads side by side
  unsigned at_once = 1;    ///< rows of threads
  std::int64_t chunk = 0;  ///< rows of a block
  unsigned tiles = 0;      ///< blocks side by side
  unsigned chunks = 1;

  std::size_t partial_bytes(std::size_t sums) const {
    return chunks == 1 ? 0 : sums * sizeof(float) * chunks * static_cast<std::size_t>(columns);
  }
};

/// Returns how many rows of a matrix without gaps to take as one, so that four floats of a narrow
/// one can be loaded at once where 4 does not divide its columns: 1, 2 or 4.
inline unsigned column_fold(std::int64_t rows, std::int64_t columns) {
  const unsigned fold = columns % 4 == 0 ? 1 : columns % 2 == 0 ? 2 : 4;
  return rows % fold == 0 && columns * fold <= 4 * kFoldedVectors ? fold : 1;
}

/// `rows` and `columns`: after the fold.
inline ColumnSums column_sums(std::int64_t rows, std::int64_t columns, unsigned fold = 1) {
  constexpr std::int64_t kBlocks =
      396;  // of a large matrix: three to a multiprocessor, all at once
  constexpr std::int64_t kRowsEach = 16;  // of a thread, so that sums outweigh their reduction
  static_assert(kBlocks <= kTickets);
  ColumnSums t{.rows = rows, .columns = columns, .vector = columns % 4 == 0 ? 4 : 1, .fold = fold};
  const std::int64_t vectors = columns / t.vector;
  const auto parts = [](std::int64_t items, std::int64_t size) {
    return (items + size - 1) / size;
  };
  // Blocks are as wide as they must be for few rows to be enough for their threads.
  const std::int64_t widest =
      fold > 1 ? kFoldedVectors
               : std::clamp<std::int64_t>(kBlock / std::max<std::int64_t>(rows, 1), kWarp, kBlock);
  const std::int64_t tiles = std::max<std::int64_t>(parts(vectors, widest), 1);
  const std::int64_t across = std::max<std::int64_t>(parts(vectors, tiles), 1);
  const std::int64_t at_once = kBlock / across;
  const std::int64_t most = std::max<std::int64_t>(kBlocks / tiles, 1);
  // One block alone adds a few more rows sooner than others would be waited for.
  const bool alone = rows <= 2 * kRowsEach * at_once;
  t.chunk = alone ? rows : at_once * std::max(kRowsEach, parts(rows, at_once * most));
  t.chunks = alone ? 1 : static_cast<unsigned>(parts(rows, t.chunk));
  t.across = static_cast<unsigned>(across);
  t.at_once = static_cast<unsigned>(at_once);
  t.tiles = static_cast<unsigned>(parts(vectors, across));
  return t;
}

/// Rows of a matrix in memory, as column_sum() reads them: load() begins to read columns from `c`
/// on of row r, add() adds what is there to each of kSums sums, 1 or 2.
template <class T>
struct MatrixRows {
  static constexpr int kSums = 1;
  const T* x;
  std::int64_t columns;
  bool aligned;

  template <int kVector>
  __device__ FloatVector<kVector> load(std::int64_t r, std::int64_t c) const {
    return load_floats<kVector>(x + r * columns + c, aligned);
  }
  template <int kVector>
  __device__ void add(const FloatVector<kVector>& row, std::int64_t /*r*/, std::int64_t /*c*/,
                      FloatVector<kVector>& sum) const {
    for (int v = 0; v < kVector; ++v) sum[v] += row[v];
  }
};

/// Adds `sum` over the rows of threads of a block, in a fixed order; the first row gets the result.
/// Every thread must call it.
template <int kVector>
__device__ void add_over_threads(const ColumnSums& t, FloatVector<kVector>& sum) {
  __shared__ FloatVector<kVector> shared[kBlock];
  const unsigned thread = threadIdx.x;
  const unsigned row = thread / t.across;
  __syncthreads();  // the last call's sums have been read
  shared[thread] = sum;
  for (unsigned rows = t.at_once; rows > 1;) {
    const unsigned half = (rows + 1) / 2;
    __syncthreads();
    if (row + half < rows) {
      for (int v = 0; v < kVector; ++v) sum[v] += shared[thread + half * t.across][v];
      shared[thread] = sum;
    }
    rows = half;
  }
}

/// first[c] and, of two sums, second[c] = the sums of column c. Blocks write the sums of their
/// chunks of rows to `partial` (sums, chunks, columns), and the last one of a tile adds these.
template <int kVector, class Rows>
__global__ void column_sum_kernel(Rows source, ColumnSums t, bool aligned, float* first,
                                  float* second, float* partial, unsigned* tickets) {
  using Sum = FloatVector<kVector>;
  const unsigned row = threadIdx.x / t.across;
  const std::int64_t column =
      static_cast<std::int64_t>(blockIdx.x * t.across + threadIdx.x % t.across) * kVector;
  const bool inside = column < t.columns;
  Sum sums[Rows::kSums] = {};
  // use(r, load(r)) for rows from `begin` on, as many of them on their way as registers hold.
  const auto for_rows = [&](std::int64_t begin, std::int64_t end, auto load, auto use) {
    constexpr int kAhead = sizeof(load(begin)) <= 4 * sizeof(float) ? 8 : 4;
    if (!inside) return;
    for (std::int64_t r = begin + row; r < end; r += kAhead * t.at_once) {
      decltype(load(r)) next[kAhead] = {};
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (r + k * t.at_once < end) next[k] = load(r + k * t.at_once);
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (r + k * t.at_once < end) use(r + k * t.at_once, next[k]);
      }
    }
  };
  const std::int64_t begin = blockIdx.y * t.chunk;
  for_rows(
      begin, begin + t.chunk < t.rows ? begin + t.chunk : t.rows,
      [&](std::int64_t r) { return source.template load<kVector>(r, column); },
      [&](std::int64_t r, const auto& loaded) {
        if constexpr (Rows::kSums == 1) {
          source.template add<kVector>(loaded, r, column, sums[0]);
        } else {
          source.template add<kVector>(loaded, r, column, sums[0], sums[1]);
        }
      });
  for (Sum& sum : sums) add_over_threads<kVector>(t, sum);
  const bool leads = inside && row == 0;
  if (t.chunks > 1) {
    const std::int64_t apart = t.chunks * t.columns;  // of the second sums from the first
    for (int i = 0; leads && i < Rows::kSums; ++i) {
      store_vector(partial + i * apart + blockIdx.y * t.columns + column, sums[i], aligned);
    }
    if (!is_last_block(tickets + blockIdx.x, t.chunks)) return;
    for (int i = 0; i < Rows::kSums; ++i) {
      const float* parts = partial + i * apart + column;
      sums[i] = {};
      for_rows(
          0, t.chunks,
          [&](std::int64_t j) { return load_vector<kVector>(parts + j * t.columns, aligned); },
          [&](std::int64_t, const Sum& part) {
            for (int v = 0; v < kVector; ++v) sums[i][v] += part[v];
          });
      add_over_threads<kVector>(t, sums[i]);
    }
  }
  if (t.fold > 1) {  // the only tile, with one sum
    alignas(16) __shared__ float folded[kFoldedVectors * kVector];
    if (leads) store_vector(folded + column, sums[0]);
    __syncthreads();
    const unsigned columns = static_cast<unsigned>(t.columns) / t.fold;
    for (unsigned c = threadIdx.x; c < columns; c += blockDim.x) {
      float sum = 0;
      for (unsigned part = 0; part < t.fold; ++part) sum += folded[part * columns + c];
      first[c] = sum;
    }
    return;
  }
  if (!leads) return;
  if constexpr (Rows::kSums == 2) store_vector(second + column, sums[1], aligned);
  store_vector(first + column, sums[0], aligned);
}

/// out[c] = the sum of column c of `source`, such as MatrixRows, over its rows, 0 for no row: f32,
/// in an order that follows from the shape alone; the second sums go to `second`. Each element is
/// loaded and added once. One launch, with sums of row ranges in `workspace`
/// (ColumnSums::partial_bytes()). `name` is the operator's, for errors.
template <class Rows>
void column_sum_of(const Args& args, const char* name, const Rows& source, const ColumnSums& t,
                   float* out, void* workspace, float* second = nullptr) {
  auto* partial = static_cast<float*>(workspace);
  launch(args.stream, name, {.grid = dim3(t.tiles, t.chunks), .block = t.across * t.at_once},
         t.vector == 4 ? column_sum_kernel<4, Rows> : column_sum_kernel<1, Rows>, source, t,
         vector_aligned(out, second, t.chunks > 1 ? partial : out), out, second, partial,
         args.tickets);
}
template <class Rows>
void column_sum_of(const Args& args, const char* name, const Rows& source, std::int64_t rows,
                   std::int64_t columns, float* out, void* workspace, float* second = nullptr) {
  column_sum_of(args, name, source, column_sums(rows, columns), out, workspace, second);
}

/// Returns the cut of a matrix in memory without gaps for one sum a column.
inline ColumnSums matrix_sums(std::int64_t rows, std::int64_t columns) {
  const unsigned fold = column_fold(rows, columns);
  return column_sums(rows / fold, columns * fold, fold);
}

/// The same of such a matrix.
template <class T>
void column_sum(const Args& args, const char* name, const T* x, std::int64_t rows,
                std::int64_t columns, float* out, void* workspace) {
  const ColumnSums t = matrix_sums(rows, columns);
  column_sum_of(args, name, MatrixRows<T>{x, t.columns, vector_aligned(x)}, t, out, workspace);
}

/// Returns a node's kernel: y[c] = the sum over r of x[r, c].
template <class T = float>
Kernel column_sum_of_input(const char* name, std::int64_t rows, std::int64_t columns) {
  const auto enqueue = [=](const Args& args) {
    column_sum(args, name, args.in<T>(kFirst), rows, columns, args.out(kFirst), args.workspace);
  };
  return {.enqueue = enqueue, .workspace_bytes = matrix_sums(rows, columns).partial_bytes(1)};
}

}  // namespace linnet::cuda
