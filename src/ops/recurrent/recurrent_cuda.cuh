// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/recurrent/cell_cuda.cuh"

namespace linnet::cuda {

/// A block of threads takes its samples through all steps. What it knows of them lies in shared
/// memory or, where that is too small, in `memory`: block after block, `block_floats` each.
struct RecurrentBlocks {
  RecurrentShape s;
  float* memory = nullptr;
  std::int64_t block_floats = 0;

  __device__ float* own_memory() const {
    return memory == nullptr ? shared_memory<float>() : memory + blockIdx.x * block_floats;
  }
};

/// For threads t of the block: f(i) for i = t, t + threads, ... below `count`; then all wait.
template <class F>
__device__ inline void for_block(std::int64_t count, F f) {
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) f(i);
  __syncthreads();
}

/// sums[i] (rows of `sums_stride`) = the sum over k < terms of v[i][k] w[k * along], for kSamples
/// rows of v.
template <int kSamples>
__device__ inline void dot_samples(const float* v, std::int64_t v_stride, const float* w,
                                   std::int64_t along, std::int64_t terms, float* sums,
                                   std::int64_t sums_stride) {
  float sum[kSamples] = {};
#pragma unroll 8
  for (std::int64_t k = 0; k < terms; ++k) {
    const float weight = __ldg(w + k * along);
#pragma unroll
    for (int i = 0; i < kSamples; ++i) sum[i] = fmaf(v[i * v_stride + k], weight, sum[i]);
  }
#pragma unroll
  for (int i = 0; i < kSamples; ++i) sums[i * sums_stride] = sum[i];
}

struct ForwardArgs {
  RecurrentBlocks blocks;
  const float* w = nullptr;  ///< w_hhᵀ (U, columns)
  const float* b_ih = nullptr;
  const float* b_hh = nullptr;
  float* y = nullptr;  ///< null: nobody reads it
  float* last = nullptr;
  float* saved = nullptr;  ///< begins with w_ih x in each step's columns
};

/// Computes unit j's new state and what is saved of it; `m` is lstm's memory.
__device__ inline float unit_forward(const ForwardArgs& a, const float* sums, float* saved,
                                     std::int64_t j, float before, float rh, float& m) {
  const RecurrentShape& s = a.blocks.s;
  const std::int64_t u = s.units;
  const std::int64_t gates = cell_gates(s.cell);
  float x[kMostGates];
  float c[kMostGates];
  fetch(x, saved + j, u, gates);
  fetch(c, sums + j, u, gates);
  if (a.b_ih != nullptr) {
    const int biased = s.cell == Cell::gru_original ? 2 : 0;  // its r and z are whole
#pragma unroll
    for (int g = 0; g < kMostGates; ++g) {
      if (g < biased || g >= gates) continue;
      x[g] += a.b_ih[g * u + j];
      c[g] += a.b_hh[g * u + j];
    }
  }
  float own[kMostSaved] = {};
  const float state = cell_forward(s.cell, x, c, before, rh, m, own);
  store(own, saved + j, u, cell_saved(s.cell) - 1);
  saved[s.state() + j] = before;
  return state;
}

/// A block's memory is forward_cut()'s: h, m and r h, and the sums.
template <int kSamples>
__global__ void __launch_bounds__(1024) forward_kernel(ForwardArgs a) {
  const RecurrentShape& s = a.blocks.s;
  const std::int64_t u = s.units;
  const std::int64_t columns = s.columns();
  const bool original = s.cell == Cell::gru_original;
  float* h = a.blocks.own_memory();
  float* m = h + kSamples * u;
  float* rh = m + kSamples * u;
  float* sums = rh + kSamples * u;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kSamples;
  const std::int64_t rows = first + kSamples < s.n ? kSamples : s.n - first;
  for_block(3 * kSamples * u, [&](std::int64_t i) { h[i] = 0; });
  for (std::int64_t index = 0; index < s.steps; ++index) {
    const std::int64_t t = s.step(index);
    for_block(original ? 2 * u : columns, [&](std::int64_t c) {
      dot_samples<kSamples>(h, u, a.w + c, columns, u, sums + c, columns);
    });
    if (original) {
      for_block(rows * u, [&](std::int64_t i) {
        const std::int64_t row = i / u;
        const std::int64_t j = i - row * u;
        float* saved = a.saved + ((first + row) * s.steps + t) * s.saved();
        const auto gate = [&](std::int64_t c) {
          const float bias = a.b_ih == nullptr ? 0.0F : a.b_ih[c] + a.b_hh[c];
          return logistic(saved[c] + sums[row * columns + c] + bias);
        };
        saved[j] = gate(j);
        saved[u + j] = gate(u + j);
        rh[i] = saved[j] * h[i];
      });
      for_block(u, [&](std::int64_t j) {
        const std::int64_t c = 2 * u + j;
        dot_samples<kSamples>(rh, u, a.w + c, columns, u, sums + c, columns);
      });
    }
    for_block(rows * u, [&](std::int64_t i) {
      const std::int64_t row = i / u;
      const std::int64_t j = i - row * u;
      const std::int64_t at = (first + row) * s.steps + t;
      h[i] = unit_forward(a, sums + row * columns, a.saved + at * s.saved(), j, h[i], rh[i], m[i]);
      if (a.y != nullptr) a.y[at * u + j] = h[i];
    });
  }
  for_block(rows * u, [&](std::int64_t i) { a.last[first * u + i] = h[i]; });
}

struct BackwardArgs {
  RecurrentBlocks blocks;
  const float* w = nullptr;  ///< w_hh (columns, U)
  const float* saved = nullptr;
  const float* dy = nullptr;     ///< null: none
  const float* dlast = nullptr;  ///< null: none
  float* slopes = nullptr;       ///< (N, T, slopes)
};

/// A block's memory is backward_cut()'s: dh and dm, the slopes, and dh's parts by gates.
template <int kSamples>
__global__ void __launch_bounds__(1024) backward_kernel(BackwardArgs a) {
  const RecurrentShape& s = a.blocks.s;
  const std::int64_t u = s.units;
  const std::int64_t columns = s.columns();
  const std::int64_t width = s.slopes();
  const bool original = s.cell == Cell::gru_original;
  const std::int64_t gates = original ? 2 : cell_gates(s.cell);
  float* dh = a.blocks.own_memory();
  float* dm = dh + kSamples * u;
  float* slopes = dm + kSamples * u;
  float* parts = slopes + kSamples * width;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kSamples;
  const std::int64_t rows = first + kSamples < s.n ? kSamples : s.n - first;
  for_block(kSamples * (2 * u + width + columns), [&](std::int64_t i) { dh[i] = 0; });
  if (a.dlast != nullptr) {
    for_block(rows * u, [&](std::int64_t i) { dh[i] = a.dlast[first * u + i]; });
  }
  // Column j of what gate `part` of the slopes gives, times its rows of w.
  const auto product = [&](std::int64_t part, std::int64_t j) {
    const std::int64_t gate = s.cell == Cell::gru ? (part + 2) % 3 : part;
    dot_samples<kSamples>(slopes + part * u, width, a.w + gate * u * u + j, u, u,
                          parts + part * u + j, columns);
  };
  for (std::int64_t index = s.steps - 1; index >= 0; --index) {
    const std::int64_t t = s.step(index);
    for_block(rows * u, [&](std::int64_t i) {
      const std::int64_t row = i / u;
      const std::int64_t j = i - row * u;
      const std::int64_t at = (first + row) * s.steps + t;
      float d = dh[i];
      for (std::int64_t g = 0; g < gates; ++g) d += parts[row * columns + g * u + j];
      if (a.dy != nullptr) d += a.dy[at * u + j];
      float saved[kMostSaved] = {};
      fetch(saved, a.saved + at * s.saved() + j, u, cell_saved(s.cell));
      float own[kMostGates] = {};
      const std::int64_t earlier = (first + row) * s.steps + s.step(index - 1);
      const float m_before =
          s.cell == Cell::lstm && index > 0 ? a.saved[earlier * s.saved() + 4 * u + j] : 0.0F;
      dh[i] = cell_backward(s.cell, saved, m_before, d, dm[i], own);
      store(own, slopes + row * width + j, u, width / u, original ? 1 : 0);
      store(own, a.slopes + at * width + j, u, width / u, original ? 1 : 0);
    });
    if (original) {
      for_block(u, [&](std::int64_t j) { product(2, j); });
      for_block(rows * u, [&](std::int64_t i) {
        const std::int64_t row = i / u;
        const std::int64_t j = i - row * u;
        const std::int64_t at = (first + row) * s.steps + t;
        const float* saved = a.saved + at * s.saved();
        const float r = saved[j];
        const float drh = parts[row * columns + 2 * u + j];
        const float dr = drh * saved[4 * u + j] * r * (1 - r);
        dh[i] = fmaf(drh, r, dh[i]);
        slopes[row * width + j] = dr;
        a.slopes[at * width + j] = dr;
      });
    }
    for_block(gates * u, [&](std::int64_t i) { product(i / u, i - i / u * u); });
  }
}

}  // namespace linnet::cuda
