// SPDX-License-Identifier: Apache-2.0
#pragma once

// A batch norm's gradients.
#include <cstdint>

#include "backend/cuda/last_block.cuh"
#include "ops/batch_norm/tiles_cuda.cuh"

namespace linnet::cuda {

struct NormGrad {
  const float* dy = nullptr;
  const float* x = nullptr;
  std::int64_t x_stride = 0;  ///< from row to row: x may have more channels than count
  const float* y = nullptr;   ///< null without a ReLU
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* inv_std = nullptr;
  float* dx = nullptr;  ///< may lie upon dy, x or y; null where nobody reads it
  float* dgamma = nullptr;
  float* dbeta = nullptr;
  float* dresidual = nullptr;  ///< may be null
  bool aligned = false;
};

/// dz, the gradient after the ReLU.
template <int kVector>
__device__ FloatVector<kVector> masked(const NormGrad& g, std::int64_t at) {
  FloatVector<kVector> dz = load_vector<kVector>(g.dy + at, g.aligned);
  if (g.y == nullptr) return dz;
  const auto y = load_vector<kVector>(g.y + at, g.aligned);
  for (int v = 0; v < kVector; ++v) {
    if (!(y[v] > 0)) dz[v] = 0;
  }
  return dz;
}

/// Sums of dz * x_hat and dz over the block's rows; writes the residual's
/// gradient.
template <int kVector>
__device__ void gradient_sums_of_block(const NormGrad& g, const NormTiles& t,
                                       const NormCell<kVector>& cell, FloatVector<kVector>& dgamma,
                                       FloatVector<kVector>& dbeta) {
  FloatVector<kVector> mean{};
  FloatVector<kVector> inv_std{};
  if (cell.inside) {
    mean = load_vector<kVector>(g.mean + cell.channel, g.aligned);
    inv_std = load_vector<kVector>(g.inv_std + cell.channel, g.aligned);
  }
  dgamma = {};
  dbeta = {};
  for (std::int64_t r = cell.first; r < cell.end; r += cell.step) {
    const std::int64_t at = r * t.channels + cell.channel;
    const auto x = load_vector<kVector>(g.x + r * g.x_stride + cell.channel, g.aligned);
    const auto dz = masked<kVector>(g, at);
    if (g.dresidual != nullptr) store_vector(g.dresidual + at, dz, g.aligned);
    for (int v = 0; v < kVector; ++v) {
      dgamma[v] += dz[v] * ((x[v] - mean[v]) * inv_std[v]);
      dbeta[v] += dz[v];
    }
  }
  add_over_rows<kVector, kBlock / kWarp>(t.lanes, dgamma, dbeta);
}

template <int kVector>
__device__ void write_dx(const NormGrad& g, const NormTiles& t, const NormCell<kVector>& cell,
                         const FloatVector<kVector>& dgamma, const FloatVector<kVector>& dbeta) {
  if (!cell.inside) return;
  const float part = 1.0F / static_cast<float>(t.rows);
  const auto mean = load_vector<kVector>(g.mean + cell.channel, g.aligned);
  const auto inv_std = load_vector<kVector>(g.inv_std + cell.channel, g.aligned);
  auto factor = load_vector<kVector>(g.gamma + cell.channel, g.aligned);
  for (int v = 0; v < kVector; ++v) factor[v] *= inv_std[v];
  for (std::int64_t r = cell.first; r < cell.end; r += cell.step) {
    const std::int64_t at = r * t.channels + cell.channel;
    const auto x = load_vector<kVector>(g.x + r * g.x_stride + cell.channel, g.aligned);
    const auto dz = g.dresidual != nullptr ? load_vector<kVector>(g.dresidual + at, g.aligned)
                                           : masked<kVector>(g, at);
    FloatVector<kVector> dx;
    for (int v = 0; v < kVector; ++v) {
      const float normal = (x[v] - mean[v]) * inv_std[v];
      dx[v] = factor[v] * (dz[v] - part * (dbeta[v] + normal * dgamma[v]));
    }
    store_vector(g.dx + at, dx, g.aligned);
  }
}

/// Adds the sums of the chunks for the block's channels.
template <int kVector>
__device__ void merge_gradient_sums(const NormGrad& g, const NormTiles& t,
                                    const NormCell<kVector>& cell, const Partials& p) {
  FloatVector<kVector> dgamma{};
  FloatVector<kVector> dbeta{};
  for (unsigned j = threadIdx.x / t.lanes; cell.inside && j < t.chunks; j += cell.step) {
    const std::int64_t at = j * t.channels + cell.channel;
    const auto first = load_vector<kVector>(p.first + at, g.aligned);
    const auto second = load_vector<kVector>(p.second + at, g.aligned);
    for (int v = 0; v < kVector; ++v) {
      dgamma[v] += first[v];
      dbeta[v] += second[v];
    }
  }
  add_over_rows<kVector, kBlock / kWarp>(t.lanes, dgamma, dbeta);
  if (!cell.leads(t)) return;
  store_vector(g.dgamma + cell.channel, dgamma, g.aligned);
  store_vector(g.dbeta + cell.channel, dbeta, g.aligned);
}

/// Sums of each chunk of rows, which a tile's last block adds; where there is
/// one chunk, dx follows.
template <int kVector>
__global__ void norm_gradient_sums(NormGrad g, NormTiles t, Partials p) {
  const NormCell<kVector> cell(t);
  FloatVector<kVector> dgamma;
  FloatVector<kVector> dbeta;
  gradient_sums_of_block<kVector>(g, t, cell, dgamma, dbeta);
  if (cell.leads(t)) {
    const std::int64_t at = blockIdx.y * t.channels + cell.channel;
    store_vector(p.first + at, dgamma, g.aligned);
    store_vector(p.second + at, dbeta, g.aligned);
  }
  if (gridDim.y == 1) {
    if (g.dx != nullptr) write_dx<kVector>(g, t, cell, dgamma, dbeta);
  } else if (is_last_block(p.tickets + blockIdx.x, gridDim.y)) {
    merge_gradient_sums<kVector>(g, t, cell, p);
  }
}

template <int kVector>
__global__ void norm_gradient_dx(NormGrad g, NormTiles t) {
  const NormCell<kVector> cell(t);
  if (!cell.inside) return;
  const auto dgamma = load_vector<kVector>(g.dgamma + cell.channel, g.aligned);
  const auto dbeta = load_vector<kVector>(g.dbeta + cell.channel, g.aligned);
  write_dx<kVector>(g, t, cell, dgamma, dbeta);
}

}  // namespace linnet::cuda
