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

/// first[c] and, of two sums, second[c] = the sums of column c. `partial`: the workspace.
template <int kVector, class Rows>
__global__ void __launch_bounds__(kBlock, 3)  // blocks of a multiprocessor
    column_sum_kernel(Rows source, ColumnTiles t, bool aligned, float* first, float* second,
                      float* partial, unsigned* tickets) {
  const ColumnCell<kVector> cell(t);
  const auto load = [&](std::int64_t r) { return source.template load<kVector>(r, cell.column); };
  constexpr int kAhead = sizeof(load(0)) <= 4 * sizeof(float) ? 8 : 4;
  const auto add_all = [&](auto&... sums) {
    cell.template for_rows_at_once<kAhead>(load, [&](std::int64_t r, const auto& loaded) {
      source.template add<kVector>(loaded, r, cell.column, sums...);
    });
    return add_over_blocks(t, cell, partial, tickets, sums...);
  };
  FloatVector<kVector> sum{};
  if constexpr (Rows::kSums == 2) {
    FloatVector<kVector> other{};
    if (add_all(sum, other) && cell.leads(t)) {
      store_vector(first + cell.column, sum, aligned);
      store_vector(second + cell.column, other, aligned);
    }
  } else {
    if (!add_all(sum)) return;
    if (t.fold == 1) {
      if (cell.leads(t)) store_vector(first + cell.column, sum, aligned);
      return;
    }
    alignas(16) __shared__ float folded[kWarp * kVector];  // of the only tile
    if (cell.leads(t)) store_vector(folded + cell.column, sum);
    __syncthreads();
    const unsigned columns = static_cast<unsigned>(t.columns) / t.fold;
    for (unsigned c = threadIdx.x; c < columns; c += blockDim.x) {
      float total = 0;
      for (unsigned part = 0; part < t.fold; ++part) total += folded[part * columns + c];
      first[c] = total;
    }
  }
}

/// out[c] = the sum of column c of `source`, such as MatrixRows, over its rows, 0 for no row: f32,
/// in an order that follows from the shape alone; the second sums go to `second`. Each element is
/// loaded and added once. One launch, with sums of row ranges in `workspace`
/// (ColumnTiles::partial_bytes()). `name` is the operator's, for errors.
template <class Rows>
void column_sum_of(const Args& args, const char* name, const Rows& source, const ColumnTiles& t,
                   float* out, void* workspace, float* second = nullptr) {
  launch(args.stream, name, t.shape(),
         t.vector == 4 ? column_sum_kernel<4, Rows> : column_sum_kernel<1, Rows>, source, t,
         vector_aligned(out, second), out, second, static_cast<float*>(workspace), args.tickets);
}

/// The same of a matrix in memory without gaps.
template <class T>
void column_sum(const Args& args, const char* name, const T* x, std::int64_t rows,
                std::int64_t columns, float* out, void* workspace) {
  const ColumnTiles t = matrix_sums(rows, columns);
  column_sum_of(args, name, MatrixRows<T>{x, t.columns, vector_aligned(x)}, t, out, workspace);
}

/// Returns a node's kernel: y[c] = the sum over r of x[r, c]. Each file has its own, or GCC would
/// put the simulated device's kernel beside it, where the linker drops it.
template <class T = float>
static Kernel column_sum_of_input(const char* name, std::int64_t rows, std::int64_t columns) {
  const auto enqueue = [=](const Args& args) {
    column_sum(args, name, args.in<T>(kFirst), rows, columns, args.out(kFirst), args.workspace);
  };
  return {.enqueue = enqueue, .workspace_bytes = matrix_sums(rows, columns).partial_bytes(1)};
}

}  // namespace linnet::cuda
