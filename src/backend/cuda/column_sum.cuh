// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/column_tiles.cuh"

namespace linnet::cuda {

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

/// first[c] and, of two sums, second[c] = the sums of column c. Blocks write the sums of their
/// chunks of rows to `partial` (sums, chunks, columns), and the last one of a tile adds these.
template <int kVector, class Rows>
__global__ void column_sum_kernel(Rows source, ColumnTiles t, bool aligned, float* first,
                                  float* second, float* partial, unsigned* tickets) {
  const ColumnCell<kVector> cell(t);
  const auto load = [&](std::int64_t r) { return source.template load<kVector>(r, cell.column); };
  const auto add_all = [&](auto&... sums) {
    cell.template for_rows<4>(load, [&](std::int64_t r, const auto& loaded) {
      source.template add<kVector>(loaded, r, cell.column, sums...);
    });
    return add_over_blocks(t, cell, partial, tickets, aligned, sums...) && cell.leads(t);
  };
  FloatVector<kVector> one{};
  FloatVector<kVector> two{};
  if constexpr (Rows::kSums == 1) {
    if (!add_all(one)) return;
  } else {
    if (!add_all(one, two)) return;
    store_vector(second + cell.column, two, aligned);
  }
  store_vector(first + cell.column, one, aligned);
}

inline ColumnTiles column_sum_tiles(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kBlocks = 512;  // of a large matrix: about four a multiprocessor
  static_assert(kBlocks <= kTickets);
  return column_tiles(rows, columns, 4, kBlocks);
}

/// Returns bytes of workspace that column_sum() needs for this shape; 0 where one chunk has all.
inline std::size_t column_sum_workspace(std::int64_t rows, std::int64_t columns,
                                        std::size_t sums = 1) {
  return column_sum_tiles(rows, columns).partial_bytes(sums);
}

/// out[c] = the sum of column c of `source`, such as MatrixRows, over its rows, 0 for no row: f32,
/// in an order that follows from the shape alone; the second sums go to `second`. Each element is
/// loaded and added once. One launch, with sums of row ranges in `workspace`
/// (column_sum_workspace() bytes). `name` is the operator's, for errors.
template <class Rows>
void column_sum_of(const Args& args, const char* name, const Rows& source, std::int64_t rows,
                   std::int64_t columns, float* out, void* workspace, float* second = nullptr) {
  if (columns == 0) return;
  const ColumnTiles t = column_sum_tiles(rows, columns);
  auto* partial = static_cast<float*>(workspace);
  launch(args.stream, name, t.shape(),
         t.vector == 4 ? column_sum_kernel<4, Rows> : column_sum_kernel<1, Rows>, source, t,
         vector_aligned(out, second, t.chunks > 1 ? partial : out), out, second, partial,
         args.tickets);
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
