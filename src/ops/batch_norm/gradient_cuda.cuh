// SPDX-License-Identifier: Apache-2.0
#pragma once

// A batch norm's gradients.
#include <cstdint>
#include <type_traits>

#include "ops/batch_norm/tiles_cuda.cuh"

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
  bool aligned = false;
};

/// What a norm's kernels know of a thread's columns.
template <int kVector>
struct NormGradColumns {
  FloatVector<kVector> mean{}, inv_std{}, factor{};

  template <class T>
  __device__ NormGradColumns(const NormGrad<T>& g, const ColumnTiles& t,
                             const ColumnCell<kVector>& cell) {
    if (!cell.inside) return;
    factor = load_vector<kVector>(g.gamma + cell.column, g.aligned);
    mean = load_vector<kVector>(g.mean + cell.column, g.aligned);
    inv_std = load_vector<kVector>(g.inv_std + cell.column, g.aligned);
    for (int v = 0; v < kVector; ++v) factor[v] *= inv_std[v];
  }
};

/// x and dz, the gradient after the ReLU, of a row.
template <int kVector>
struct NormGradRow {
  FloatVector<kVector> x, dz;

  NormGradRow() = default;
  template <class T>
  __device__ NormGradRow(const NormGrad<T>& g, const ColumnTiles& t,
                         const ColumnCell<kVector>& cell, std::int64_t r, bool kept)
      : x(load_floats<kVector>(g.x + r * g.x_stride + cell.column, g.aligned)) {
    const std::int64_t at = r * t.columns + cell.column;
    dz = load_floats<kVector>((kept ? g.dresidual : g.dy) + at, g.aligned);
    if (kept) return;
    if (g.summand != nullptr) {
      const auto more = load_floats<kVector>(g.summand + at, g.aligned);
      for (int v = 0; v < kVector; ++v) dz[v] += more[v];
    }
    if (g.y == nullptr) return;
    const auto sign = load_floats<kVector>(g.y + at, g.aligned);
    for (int v = 0; v < kVector; ++v) {
      if (!(sign[v] > 0)) dz[v] = 0;
    }
  }
};

/// Sums of dz * x_hat and dz over the block's rows; writes the residual's
/// gradient.
template <int kVector, class T>
__device__ void gradient_sums_of_block(const NormGrad<T>& g, const ColumnTiles& t,
                                       const ColumnCell<kVector>& cell,
                                       const NormGradColumns<kVector>& columns,
                                       FloatVector<kVector>& dgamma, FloatVector<kVector>& dbeta) {
  using Row = NormGradRow<kVector>;
  dgamma = {};
  dbeta = {};
  const auto load = [&](std::int64_t r) { return Row(g, t, cell, r, false); };
  cell.template for_rows<2>(load, [&](std::int64_t r, const Row& row) {
    if (g.dresidual != nullptr) {
      store_floats(g.dresidual + r * t.columns + cell.column, row.dz, g.aligned);
    }
    for (int v = 0; v < kVector; ++v) {
      dgamma[v] += row.dz[v] * ((row.x[v] - columns.mean[v]) * columns.inv_std[v]);
      dbeta[v] += row.dz[v];
    }
  });
}

template <int kVector, class T>
__device__ void write_dx(const NormGrad<T>& g, const ColumnTiles& t,
                         const ColumnCell<kVector>& cell, const NormGradColumns<kVector>& columns,
                         const FloatVector<kVector>& dgamma, const FloatVector<kVector>& dbeta) {
  if (!cell.inside) return;
  struct Row {
    NormGradRow<kVector> own;
    FloatVector<kVector> sum;
  };
  const float part = 1.0F / static_cast<float>(t.rows);
  // dz itself, unless it was rounded.
  const bool kept = std::is_same_v<T, float> && g.dresidual != nullptr;
  const std::int64_t piece_begin = t.columns - g.piece_channels;
  const bool in_piece = g.piece != nullptr && cell.column >= piece_begin;
  const auto load = [&](std::int64_t r) {
    Row row{NormGradRow<kVector>(g, t, cell, r, kept), {}};
    if (g.into) row.sum = load_floats<kVector>(g.dx + r * g.dx_stride + cell.column, g.aligned);
    return row;
  };
  cell.template for_rows<2>(load, [&](std::int64_t r, const Row& row) {
    FloatVector<kVector> dx;
    for (int v = 0; v < kVector; ++v) {
      const float normal = (row.own.x[v] - columns.mean[v]) * columns.inv_std[v];
      // Rounded before it is added, as where another kernel adds it.
      dx[v] = __fmul_rn(columns.factor[v], row.own.dz[v] - part * (dbeta[v] + normal * dgamma[v]));
      if (g.into) dx[v] += row.sum[v];
    }
    store_floats(g.dx + r * g.dx_stride + cell.column, dx, g.aligned);
    if (in_piece) {
      store_floats(g.piece + r * g.piece_channels + cell.column - piece_begin, dx, g.aligned);
    }
  });
}

/// dgamma and dbeta, and, kWhole, dx too.
template <int kVector, bool kWhole, class T>
__global__ void __launch_bounds__(kColumnBlock, 1)
    norm_gradient_kernel(NormGrad<T> g, ColumnTiles t, Partials p) {
  const ColumnCell<kVector> cell(t);
  FloatVector<kVector> dgamma;
  FloatVector<kVector> dbeta;
  const NormGradColumns<kVector> columns(g, t, cell);
  gradient_sums_of_block<kVector>(g, t, cell, columns, dgamma, dbeta);
  if (!add_over_blocks<kWhole>(t, cell, p.first, p.tickets, g.aligned, dgamma, dbeta)) return;
  if (cell.leads(t) && (!kWhole || blockIdx.y == 0)) {
    store_vector(g.dgamma + cell.column, dgamma, g.aligned);
    store_vector(g.dbeta + cell.column, dbeta, g.aligned);
  }
  if constexpr (kWhole) {
    if (g.dx != nullptr) write_dx<kVector>(g, t, cell, columns, dgamma, dbeta);
  }
}

template <int kVector, class T>
__global__ void norm_gradient_dx(NormGrad<T> g, ColumnTiles t) {
  const ColumnCell<kVector> cell(t);
  if (!cell.inside) return;
  const auto dgamma = load_vector<kVector>(g.dgamma + cell.column, g.aligned);
  const auto dbeta = load_vector<kVector>(g.dbeta + cell.column, g.aligned);
  const NormGradColumns<kVector> columns(g, t, cell);
  write_dx<kVector>(g, t, cell, columns, dgamma, dbeta);
}

}  // namespace linnet::cuda
