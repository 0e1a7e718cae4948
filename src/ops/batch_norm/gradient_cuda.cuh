// SPDX-License-Identifier: Apache-2.0
#pragma once

// A batch norm's gradients.
#include <cstdint>
#include <type_traits>

#include "backend/cuda/column_tiles.cuh"

namespace linnet::cuda {

/// T: how activations are stored.
template <class T>
struct NormGrad {
  const T* dy = nullptr;
  const T* summand = nullptr;  ///< of dy; may be null
  const T* x = nullptr;
  std::int64_t x_stride = 0;  ///< from row to row: x may have more channels than count
  const T* y = nullptr;       ///< null without a ReLU
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* inv_std = nullptr;
  T* dx = nullptr;  ///< may lie upon dy, x or y; null where nobody reads it
  float* dgamma = nullptr;
  float* dbeta = nullptr;
  T* dresidual = nullptr;      ///< may be null
  std::int64_t dx_stride = 0;  ///< from row to row
  bool into = false;           ///< whether dx is added to what is there
  T* piece = nullptr;          ///< may be null: the last `piece_channels` of the sum's
  std::int64_t piece_channels = 0;

  /// Returns whether kernels may take four channels at once.
  bool aligned(const float* workspace) const {
    return (x_stride | dx_stride) % 4 == 0 &&
           vector_aligned(dy, summand, x, y, gamma, mean, inv_std, dx, dgamma, dbeta, dresidual,
                          piece, workspace);
  }
};

/// What a norm's kernels know of a thread's columns.
template <int kVector>
struct NormGradColumns {
  FloatVector<kVector> mean{}, inv_std{}, factor{};

  template <class T>
  __device__ NormGradColumns(const NormGrad<T>& g, const ColumnCell<kVector>& cell) {
    if (!cell.inside) return;
    factor = load_vector<kVector>(g.gamma + cell.column);
    mean = load_vector<kVector>(g.mean + cell.column);
    inv_std = load_vector<kVector>(g.inv_std + cell.column);
    for (int v = 0; v < kVector; ++v) factor[v] *= inv_std[v];
  }
};

/// x and dz, the gradient after the ReLU, of a row.
template <int kVector>
struct NormGradRow {
  FloatVector<kVector> x, dz;
};

/// What a row's dz is made of. Loading it waits for nothing, so that loads of rows overlap.
template <int kVector>
struct NormGradLoads {
  FloatVector<kVector> x, dy, summand, sign;

  NormGradLoads() = default;
  /// written: dz is in g.dresidual.
  template <class T>
  __device__ NormGradLoads(const NormGrad<T>& g, const ColumnTiles& t,
                           const ColumnCell<kVector>& cell, std::int64_t r, bool written)
      : x(load_floats<kVector>(g.x + r * g.x_stride + cell.column)), summand{}, sign{} {
    const std::int64_t at = r * t.columns + cell.column;
    dy = load_floats<kVector>((written ? g.dresidual : g.dy) + at);
    if (g.summand != nullptr && !written) {
      summand = load_floats<kVector>(g.summand + at);
    }
    if (g.y != nullptr && !written) sign = load_floats<kVector>(g.y + at);
  }

  template <class T>
  __device__ NormGradRow<kVector> row(const NormGrad<T>& g, bool written) const {
    NormGradRow<kVector> row{x, dy};
    for (int v = 0; v < kVector; ++v) {
      row.dz[v] += summand[v];
      if (g.y != nullptr && !written && !(sign[v] > 0)) row.dz[v] = 0;
    }
    return row;
  }
};

/// Sums of dz * x_hat and dz over the block's rows; writes the residual's gradient. Keeps the
/// thread's rows, kKept > 0.
template <int kVector, int kKept, class T>
__device__ void gradient_sums_of_block(const NormGrad<T>& g, const ColumnTiles& t,
                                       const ColumnCell<kVector>& cell,
                                       const NormGradColumns<kVector>& columns,
                                       FloatVector<kVector>& dgamma, FloatVector<kVector>& dbeta,
                                       NormGradRow<kVector> (&kept)[kKeptRows<kKept>]) {
  using Row = NormGradRow<kVector>;
  dgamma = {};
  dbeta = {};
  const auto load = [&](std::int64_t r) { return NormGradLoads<kVector>(g, t, cell, r, false); };
  const auto add = [&](std::int64_t r, const Row& row) {
    if (g.dresidual != nullptr) {
      store_floats(g.dresidual + r * t.columns + cell.column, row.dz);
    }
    for (int v = 0; v < kVector; ++v) {
      dgamma[v] += row.dz[v] * ((row.x[v] - columns.mean[v]) * columns.inv_std[v]);
      dbeta[v] += row.dz[v];
    }
  };
  if constexpr (kKept > 0) {
    NormGradLoads<kVector> loads[kKept];
    cell.template load_kept<kKept>(load, loads);
    for (int k = 0; k < kKept; ++k) kept[k] = loads[k].row(g, false);
    cell.template use_kept<kKept>(add, kept);
  } else {
    cell.template for_rows<4>(load, [&](std::int64_t r, const NormGradLoads<kVector>& loads) {
      add(r, loads.row(g, false));
    });
  }
}

/// `kept`: the thread's rows, or, kKept == 0, none: they are read.
template <int kVector, int kKept, class T>
__device__ void write_dx(const NormGrad<T>& g, const ColumnTiles& t,
                         const ColumnCell<kVector>& cell, const NormGradColumns<kVector>& columns,
                         const FloatVector<kVector>& dgamma, const FloatVector<kVector>& dbeta,
                         const NormGradRow<kVector> (&kept)[kKeptRows<kKept>]) {
  if (!cell.inside) return;
  const float part = 1.0F / static_cast<float>(t.rows);
  const std::int64_t piece_begin = t.columns - g.piece_channels;
  const bool in_piece = g.piece != nullptr && cell.column >= piece_begin;
  const auto load_sum = [&](std::int64_t r) {
    return g.into ? load_floats<kVector>(g.dx + r * g.dx_stride + cell.column)
                  : FloatVector<kVector>{};
  };
  const auto write = [&](std::int64_t r, const NormGradRow<kVector>& row,
                         const FloatVector<kVector>& sum) {
    FloatVector<kVector> dx;
    for (int v = 0; v < kVector; ++v) {
      const float normal = (row.x[v] - columns.mean[v]) * columns.inv_std[v];
      // Rounded before it is added, as where another kernel adds it.
      dx[v] = __fmul_rn(columns.factor[v], row.dz[v] - part * (dbeta[v] + normal * dgamma[v]));
      if (g.into) dx[v] += sum[v];
    }
    store_floats(g.dx + r * g.dx_stride + cell.column, dx);
    if (in_piece) {
      store_floats(g.piece + r * g.piece_channels + cell.column - piece_begin, dx);
    }
  };
  if constexpr (kKept > 0) {
    FloatVector<kVector> sums[kKept];
    cell.template load_kept<kKept>(load_sum, sums);
    cell.template use_kept<kKept>(write, kept, sums);
  } else {
    struct Row {
      NormGradLoads<kVector> own;
      FloatVector<kVector> sum;
    };
    // dz itself, unless it was rounded.
    const bool written = std::is_same_v<T, float> && g.dresidual != nullptr;
    cell.template for_rows<4>(
        [&](std::int64_t r) {
          return Row{NormGradLoads<kVector>(g, t, cell, r, written), load_sum(r)};
        },
        [&](std::int64_t r, const Row& row) { write(r, row.own.row(g, written), row.sum); });
  }
}

/// dgamma and dbeta, and, kWhole, dx too, of rows of which a thread keeps up to kKept; 0: none.
template <int kVector, bool kWhole, int kKept, class T>
__global__ void __launch_bounds__(kColumnBlock, 1)
    norm_gradient_kernel(NormGrad<T> g, ColumnTiles t, float* partial, unsigned* tickets) {
  const ColumnCell<kVector> cell(t);
  FloatVector<kVector> dgamma;
  FloatVector<kVector> dbeta;
  NormGradRow<kVector> kept[kKeptRows<kKept>];
  const NormGradColumns<kVector> columns(g, cell);
  gradient_sums_of_block<kVector, kKept>(g, t, cell, columns, dgamma, dbeta, kept);
  if constexpr (kWhole) {
    add_over_rows<kVector>(t.lanes, dgamma, dbeta);
  } else if (!add_over_blocks(t, cell, partial, tickets, dgamma, dbeta)) {
    return;
  }
  if (cell.leads(t)) {
    store_vector(g.dgamma + cell.column, dgamma);
    store_vector(g.dbeta + cell.column, dbeta);
  }
  if constexpr (kWhole) {
    if (g.dx != nullptr) write_dx<kVector, kKept>(g, t, cell, columns, dgamma, dbeta, kept);
  }
}

template <int kVector, class T>
__global__ void norm_gradient_dx(NormGrad<T> g, ColumnTiles t) {
  const ColumnCell<kVector> cell(t);
  if (!cell.inside) return;
  const auto dgamma = load_vector<kVector>(g.dgamma + cell.column);
  const auto dbeta = load_vector<kVector>(g.dbeta + cell.column);
  const NormGradColumns<kVector> columns(g, cell);
  const NormGradRow<kVector> none[1] = {};
  write_dx<kVector, 0>(g, t, cell, columns, dgamma, dbeta, none);
}

}  // namespace linnet::cuda
