// SPDX-License-Identifier: Apache-2.0
#pragma once

// A batch norm's statistics and result.
#include <cstdint>

#include "backend/cuda/column_tiles.cuh"

namespace linnet::cuda {

/// T: how activations are stored.
template <class T>
struct Norm {
  const T* x = nullptr;
  std::int64_t x_stride = 0;  ///< from row to row: x may have more channels than count
  /// Null, or x's channels from part_begin on, which `wide` gets; x lies there.
  const T* part = nullptr;
  std::int64_t part_begin = 0;
  T* wide = nullptr;
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const T* residual = nullptr;  ///< may be null; y may lie upon it
  float* running_mean = nullptr;
  float* running_var = nullptr;
  T* y = nullptr;
  float* mean = nullptr;
  float* inv_std = nullptr;
  float epsilon = 0;
  float momentum = 0;
  bool relu = false;

  /// Returns whether kernels may take four channels at once.
  bool aligned(const float* workspace = nullptr) const {
    return x_stride % 4 == 0 && vector_aligned(x, part, wide, gamma, beta, residual, running_mean,
                                               running_var, y, mean, inv_std, workspace);
  }
};

__device__ inline float inverse_deviation(float variance, float epsilon) {
  return 1.0F / sqrtf(variance + epsilon);
}

/// Writes what becomes of a channel's mean and sum of squared distances from it
/// over `rows`.
template <class T>
__device__ void write_statistics(const Norm<T>& n, std::int64_t channel, std::int64_t rows,
                                 float mean, float squares) {
  const auto count = static_cast<float>(rows > 0 ? rows : 1);
  if (squares < 0) squares = 0;
  n.mean[channel] = mean;
  n.inv_std[channel] = inverse_deviation(squares / count, n.epsilon);
  if (rows == 0) return;
  float& running_mean = n.running_mean[channel];
  float& running_var = n.running_var[channel];
  const float unbiased = squares / (count > 1 ? count - 1 : 1.0F);
  running_mean = (1 - n.momentum) * running_mean + n.momentum * mean;
  running_var = (1 - n.momentum) * running_var + n.momentum * unbiased;
}

/// A row's columns of x and of the residual.
template <int kVector>
struct NormRow {
  FloatVector<kVector> x, added;
};

/// `kept`: the thread's rows, or, kKept == 0, none: they are read.
template <int kVector, int kKept, class T>
__device__ void normalize_cell(const Norm<T>& n, const ColumnTiles& t,
                               const ColumnCell<kVector>& cell, const FloatVector<kVector>& mean,
                               const FloatVector<kVector>& inv_std,
                               const NormRow<kVector> (&kept)[kKeptRows<kKept>]) {
  if (!cell.inside) return;
  FloatVector<kVector> factor = load_vector<kVector>(n.gamma + cell.column);
  const auto beta = load_vector<kVector>(n.beta + cell.column);
  for (int v = 0; v < kVector; ++v) factor[v] *= inv_std[v];
  const auto write = [&](std::int64_t r, const NormRow<kVector>& row) {
    FloatVector<kVector> y;
    for (int v = 0; v < kVector; ++v) {
      y[v] = (row.x[v] - mean[v]) * factor[v] + beta[v] + row.added[v];
      if (n.relu && y[v] < 0) y[v] = 0;  // keeps NaN
    }
    store_floats(n.y + r * t.columns + cell.column, y);
  };
  if constexpr (kKept > 0) {
    cell.template use_kept<kKept>(write, kept);
  } else {
    const auto load = [&](std::int64_t r) {
      NormRow<kVector> row{load_floats<kVector>(n.x + r * n.x_stride + cell.column), {}};
      if (n.residual != nullptr) {
        row.added = load_floats<kVector>(n.residual + r * t.columns + cell.column);
      }
      return row;
    };
    cell.template for_rows<4>(load, write);
  }
}

/// Mean and squared distances from it of the block's rows; keeps the thread's, kKept > 0. Sums are
/// taken about the first of these rows, so they don't cancel however far the mean is from 0.
template <int kVector, int kKept, class T>
__device__ void moments_of_block(const Norm<T>& n, const ColumnTiles& t,
                                 const ColumnCell<kVector>& cell, FloatVector<kVector>& mean,
                                 FloatVector<kVector>& squares,
                                 NormRow<kVector> (&kept)[kKeptRows<kKept>]) {
  FloatVector<kVector> about{};
  FloatVector<kVector> sum{};
  squares = {};
  const bool in_part = n.part != nullptr && cell.column >= n.part_begin;
  const std::int64_t stride = in_part ? t.columns - n.part_begin : n.x_stride;
  const T* from = in_part ? n.part + cell.column - n.part_begin : n.x + cell.column;
  const auto load = [&](std::int64_t r) { return load_floats<kVector>(from + r * stride); };
  if (cell.inside && cell.begin < cell.end) about = load(cell.begin);
  const auto add = [&](std::int64_t r, const FloatVector<kVector>& x) {
    if (in_part) store_floats(n.wide + r * n.x_stride + cell.column, x);
    for (int v = 0; v < kVector; ++v) {
      const float d = x[v] - about[v];
      sum[v] += d;
      squares[v] += d * d;
    }
  };
  if constexpr (kKept > 0) {
    const auto load_row = [&](std::int64_t r) {
      NormRow<kVector> row{load(r), {}};
      if (n.residual != nullptr) {
        row.added = load_floats<kVector>(n.residual + r * t.columns + cell.column);
      }
      return row;
    };
    cell.template load_kept<kKept>(load_row, kept);
    cell.template use_kept<kKept>([&](std::int64_t r,
                                      const NormRow<kVector>& row) { add(r, row.x); },
                                  kept);
  } else {
    cell.template for_rows<4>(load, add);
  }
  add_over_rows<kVector>(t.lanes, sum, squares);
  const auto count = static_cast<float>(cell.end > cell.begin ? cell.end - cell.begin : 1);
  for (int v = 0; v < kVector; ++v) {
    mean[v] = about[v] + sum[v] / count;
    squares[v] -= sum[v] * (sum[v] / count);
  }
}

/// Joins the moments of the chunks (Chan et al., 1983) for the block's channels, in every thread.
template <int kVector>
__device__ void merge_moments(const ColumnTiles& t, const ColumnCell<kVector>& cell,
                              const float* means, const float* squares_of_chunks,
                              FloatVector<kVector>& mean, FloatVector<kVector>& squares) {
  struct Chunk {
    FloatVector<kVector> mean, squares;
  };
  FloatVector<kVector> about{};
  FloatVector<kVector> sum{};
  squares = {};
  if (cell.inside) about = load_vector<kVector>(means + cell.column);
  cell.of_chunks(t).template for_rows_at_once<2>(
      [&](std::int64_t j) {
        const std::int64_t at = j * t.columns + cell.column;
        return Chunk{load_vector<kVector>(means + at),
                     load_vector<kVector>(squares_of_chunks + at)};
      },
      [&](std::int64_t j, const Chunk& chunk) {
        const std::int64_t left = t.rows - j * t.chunk_rows;
        const auto count = static_cast<float>(max(min(left, t.chunk_rows), std::int64_t{0}));
        for (int v = 0; v < kVector; ++v) {
          const float d = chunk.mean[v] - about[v];
          sum[v] += count * d;
          squares[v] += chunk.squares[v] + count * d * d;
        }
      });
  add_over_rows<kVector>(t.lanes, sum, squares);
  for (int v = 0; v < kVector; ++v) {
    const float shift = sum[v] / static_cast<float>(t.rows);
    mean[v] = about[v] + shift;
    squares[v] -= sum[v] * shift;
  }
}

/// The statistics, and, kWhole, the result too, of rows of which a thread keeps up to kKept; 0:
/// none.
template <int kVector, bool kWhole, int kKept, class T>
__global__ void __launch_bounds__(kColumnBlock, 1)
    norm_kernel(Norm<T> n, ColumnTiles t, float* partial, unsigned* tickets) {
  const ColumnCell<kVector> cell(t);
  FloatVector<kVector> mean;
  FloatVector<kVector> squares;
  NormRow<kVector> kept[kKeptRows<kKept>];
  moments_of_block<kVector, kKept>(n, t, cell, mean, squares, kept);
  if (!kWhole && t.chunks > 1) {
    float* const second = partial + t.chunks * t.columns;
    if (cell.leads(t)) {
      store_vector(partial + cell.place(t), mean);
      store_vector(second + cell.place(t), squares);
    }
    if (!is_last_block(tickets + blockIdx.x, t.chunks)) return;
    merge_moments(t, cell, partial, second, mean, squares);
  }
  if (cell.leads(t)) {
    for (int v = 0; v < kVector; ++v) {
      write_statistics(n, cell.column + v, t.rows, mean[v], squares[v]);
    }
  }
  if constexpr (kWhole) {
    const auto count = static_cast<float>(t.rows > 0 ? t.rows : 1);
    for (int v = 0; v < kVector; ++v) {
      if (squares[v] < 0) squares[v] = 0;
      squares[v] = inverse_deviation(squares[v] / count, n.epsilon);
    }
    normalize_cell<kVector, kKept>(n, t, cell, mean, squares, kept);
  }
}

/// y from given statistics; `variances`: n.inv_std holds variances (inference).
template <int kVector, class T>
__global__ void normalize_kernel(Norm<T> n, ColumnTiles t, bool variances) {
  const ColumnCell<kVector> cell(t);
  if (!cell.inside) return;
  const auto mean = load_vector<kVector>(n.mean + cell.column);
  auto inv_std = load_vector<kVector>(n.inv_std + cell.column);
  for (int v = 0; variances && v < kVector; ++v) {
    inv_std[v] = inverse_deviation(inv_std[v], n.epsilon);
  }
  const NormRow<kVector> none[1] = {};
  normalize_cell<kVector, 0>(n, t, cell, mean, inv_std, none);
}

}  // namespace linnet::cuda
