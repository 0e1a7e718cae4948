// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/column_tiles.cuh"

namespace linnet::cuda {

/// Rows of a matrix in memory, as column_sum() reads them: load() begins to read columns from `c`
/// on of row r, finish() returns what is added.
template <class T>
struct MatrixRows {
  const T* x;
  std::int64_t columns;
  bool aligned;

  template <int kVector>
  __device__ FloatVector<kVector> load(std::int64_t r, std::int64_t c) const {
    return load_floats<kVector>(x + r * columns + c, aligned);
  }
  template <int kVector>
  __device__ const FloatVector<kVector>& finish(const FloatVector<kVector>& loaded,
                                                std::int64_t /*r*/, std::int64_t /*c*/) const {
    return loaded;
  }
};

/// out[c] = the sum of column c. Blocks write the sums of their chunks of rows to `partial`
/// (chunks, columns), and the last one of a tile adds these.
template <int kVector, class Rows>
__global__ void column_sum_kernel(Rows source, ColumnTiles t, bool aligned, float* out,
                                  float* partial, unsigned* tickets) {
  const ColumnCell<kVector> cell(t);
  FloatVector<kVector> sum{};
  const auto load = [&](std::int64_t r) { return source.template load<kVector>(r, cell.column); };
  cell.template for_rows<4>(load, [&](std::int64_t r, const auto& loaded) {
    const auto& row = source.template finish<kVector>(loaded, r, cell.column);
    for (int v = 0; v < kVector; ++v) sum[v] += row[v];
  });
  if (!add_over_blocks<false>(t, cell, partial, tickets, aligned, sum)) return;
  if (cell.leads(t)) store_vector(out + cell.column, sum, aligned);
}

inline ColumnTiles column_sum_tiles(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kBlocks = 512;  // of a large matrix: about four a multiprocessor
  static_assert(kBlocks <= kTickets);
  return column_tiles(rows, columns, 4, kBlocks);
}

/// Returns bytes of workspace that column_sum() needs for this shape; 0 where one chunk has all.
inline std::size_t column_sum_workspace(std::int64_t rows, std::int64_t columns) {
  return column_sum_tiles(rows, columns).partial_bytes(1);
}

/// out[c] = the sum of column c of `source`, such as MatrixRows, over its rows, 0 for no row: f32,
/// in an order that follows from the shape alone. Each element is loaded and finished once. One
/// launch, with sums of row ranges in `workspace` (column_sum_workspace() bytes). `name` is the
/// operator's, for errors.
template <class Rows>
void column_sum_of(const Args& args, const char* name, const Rows& source, std::int64_t rows,
                   std::int64_t columns, float* out, void* workspace) {
  if (columns == 0) return;
  const ColumnTiles t = column_sum_tiles(rows, columns);
  auto* partial = static_cast<float*>(workspace);
  launch(args.stream, name, t.shape(),
         t.vector == 4 ? column_sum_kernel<4, Rows> : column_sum_kernel<1, Rows>, source, t,
         vector_aligned(out, t.chunks > 1 ? partial : out), out, partial, args.tickets);
}

/// The same of a matrix in memory without gaps.
template <class T>
void column_sum(const Args& args, const char* name, const T* x, std::int64_t rows,
                std::int64_t columns, float* out, void* workspace) {
  column_sum_of(args, name, MatrixRows<T>{x, columns, vector_aligned(x)}, rows, columns, out,
                workspace);
}

/// Returns a node's kernel: y[c] = the sum over r of x[r, c].
template <class T = float>
Kernel column_sum_of_input(const char* name, std::int64_t rows, std::int64_t columns) {
  const auto enqueue = [=](const Args& args) {
    column_sum(args, name, args.in<T>(kFirst), rows, columns, args.out(kFirst), args.workspace);
  };
  return {.enqueue = enqueue, .workspace_bytes = column_sum_workspace(rows, columns)};
}

}  // namespace linnet::cuda
