// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/device.cuh"
#include "ops/recurrent/recurrent.h"

namespace linnet::cuda {

__device__ inline float logistic(float x) { return 1 / (1 + ::expf(-x)); }

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

/// Returns the results of the cell for unit j's sums; returns the new state. `m` is lstm's memory.
__device__ inline float cell_forward(const ForwardArgs& a, const float* sums, float* saved,
                                     std::int64_t j, float before, float rh, float* m) {
  const std::int64_t u = a.blocks.s.units;
  const auto input = [&](std::int64_t gate) {
    return saved[gate * u + j] + (a.b_ih == nullptr ? 0.0F : a.b_ih[gate * u + j]);
  };
  const auto hidden = [&](std::int64_t gate) {
    return sums[gate * u + j] + (a.b_hh == nullptr ? 0.0F : a.b_hh[gate * u + j]);
  };
  saved[a.blocks.s.state() + j] = before;
  switch (a.blocks.s.cell) {
    case Cell::tanh: return saved[j] = ::tanhf(input(0) + hidden(0));
    case Cell::relu: {
      const float x = input(0) + hidden(0);
      return saved[j] = x < 0 ? 0.0F : x;
    }
    case Cell::gru:
    case Cell::gru_original: {
      const bool original = a.blocks.s.cell == Cell::gru_original;
      const float r = original ? saved[j] : logistic(input(0) + hidden(0));
      const float z = original ? saved[u + j] : logistic(input(1) + hidden(1));
      const float c = hidden(2);
      const float n = ::tanhf(original ? input(2) + c : fmaf(r, c, input(2)));
      saved[j] = r;
      saved[u + j] = z;
      saved[2 * u + j] = n;
      saved[3 * u + j] = original ? rh : c;
      return fmaf(z, before - n, n);
    }
    case Cell::lstm: {
      const float i = logistic(input(0) + hidden(0));
      const float f = logistic(input(1) + hidden(1));
      const float g = ::tanhf(input(2) + hidden(2));
      const float o = logistic(input(3) + hidden(3));
      *m = fmaf(f, *m, i * g);
      saved[j] = i;
      saved[u + j] = f;
      saved[2 * u + j] = g;
      saved[3 * u + j] = o;
      saved[4 * u + j] = *m;
      return o * ::tanhf(*m);
    }
  }
  return before;
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
      h[i] = cell_forward(a, sums + row * columns, a.saved + at * s.saved(), j, h[i], rh[i], m + i);
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

/// Unit j's slopes from d, the gradient by its new state; returns what reaches the state before
/// directly. r's of gru_original is left out.
__device__ inline float cell_backward(const RecurrentShape& s, const float* saved,
                                      const float* m_before, std::int64_t j, float d, float* dm,
                                      float* slopes) {
  const std::int64_t u = s.units;
  switch (s.cell) {
    case Cell::tanh: slopes[j] = d * (1 - saved[j] * saved[j]); return 0;
    case Cell::relu: slopes[j] = saved[j] > 0 ? d : 0.0F; return 0;
    case Cell::gru:
    case Cell::gru_original: {
      const float r = saved[j];
      const float z = saved[u + j];
      const float n = saved[2 * u + j];
      const float dz = d * (saved[4 * u + j] - n) * z * (1 - z);
      const float dn = d * (1 - z) * (1 - n * n);
      if (s.cell == Cell::gru) {
        slopes[j] = dn * r;
        slopes[u + j] = dn * saved[3 * u + j] * r * (1 - r);
        slopes[2 * u + j] = dz;
        slopes[3 * u + j] = dn;
      } else {
        slopes[u + j] = dz;
        slopes[2 * u + j] = dn;
      }
      return d * z;
    }
    case Cell::lstm: {
      const float i = saved[j];
      const float f = saved[u + j];
      const float g = saved[2 * u + j];
      const float o = saved[3 * u + j];
      const float t = ::tanhf(saved[4 * u + j]);
      const float all = *dm + d * o * (1 - t * t);
      slopes[j] = all * g * i * (1 - i);
      slopes[u + j] = m_before == nullptr ? 0.0F : all * m_before[j] * f * (1 - f);
      slopes[2 * u + j] = all * i * (1 - g * g);
      slopes[3 * u + j] = d * t * o * (1 - o);
      *dm = all * f;
      return 0;
    }
  }
  return 0;
}

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
      const float* m_before =
          index == 0 ? nullptr
                     : a.saved + ((first + row) * s.steps + s.step(index - 1)) * s.saved() + 4 * u;
      float* own = slopes + row * width;
      dh[i] = cell_backward(s, a.saved + at * s.saved(), m_before, j, d, dm + i, own);
      float* out = a.slopes + at * width;
      for (std::int64_t c = original ? u + j : j; c < width; c += u) out[c] = own[c];
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
