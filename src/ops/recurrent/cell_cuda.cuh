// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one unit of a recurrent layer computes in one step, forward and backward, on values that
// its thread holds; the kernels fetch them and sum over units.
#include <cstdint>

#include "backend/cuda/device.cuh"
#include "ops/recurrent/recurrent.h"

namespace linnet::cuda {

constexpr int kMostGates = 4;
constexpr int kMostSaved = 6;  ///< cell_saved() of any cell

__device__ inline float logistic(float x) { return 1 / (1 + ::expf(-x)); }

/// Computes a unit's new state from its gates' sums over x, `a`, and over h, `c`, biases included;
/// gru_original's r and z are given as they are, with r h as `rh`. `saved` gets all but the state
/// before. `m` is lstm's memory.
__device__ inline float cell_forward(Cell cell, const float (&a)[kMostGates],
                                     const float (&c)[kMostGates], float before, float rh, float& m,
                                     float (&saved)[kMostSaved]) {
  switch (cell) {
    case Cell::tanh: return saved[0] = ::tanhf(a[0] + c[0]);
    case Cell::relu: {
      const float x = a[0] + c[0];
      return saved[0] = x < 0 ? 0.0F : x;
    }
    case Cell::gru:
    case Cell::gru_original: {
      const bool original = cell == Cell::gru_original;
      const float r = original ? a[0] : logistic(a[0] + c[0]);
      const float z = original ? a[1] : logistic(a[1] + c[1]);
      const float n = ::tanhf(original ? a[2] + c[2] : fmaf(r, c[2], a[2]));
      saved[0] = r;
      saved[1] = z;
      saved[2] = n;
      saved[3] = original ? rh : c[2];
      return fmaf(z, before - n, n);
    }
    case Cell::lstm: {
      const float i = logistic(a[0] + c[0]);
      const float f = logistic(a[1] + c[1]);
      const float g = ::tanhf(a[2] + c[2]);
      const float o = logistic(a[3] + c[3]);
      m = fmaf(f, m, i * g);
      saved[0] = i;
      saved[1] = f;
      saved[2] = g;
      saved[3] = o;
      saved[4] = m;
      return o * ::tanhf(m);
    }
  }
  return before;
}

/// Computes a unit's slopes, in the order of RecurrentShape::slopes(), from d, the gradient by its
/// new state, and what the step saved; returns what reaches the state before directly. `m_before`
/// and `dm` are lstm's memory before the step and its gradient. r's slope of gru_original is left
/// out.
__device__ inline float cell_backward(Cell cell, const float (&saved)[kMostSaved], float m_before,
                                      float d, float& dm, float (&slopes)[kMostGates]) {
  switch (cell) {
    case Cell::tanh: slopes[0] = d * (1 - saved[0] * saved[0]); return 0;
    case Cell::relu: slopes[0] = saved[0] > 0 ? d : 0.0F; return 0;
    case Cell::gru:
    case Cell::gru_original: {
      const float r = saved[0];
      const float z = saved[1];
      const float n = saved[2];
      const float dz = d * (saved[4] - n) * z * (1 - z);
      const float dn = d * (1 - z) * (1 - n * n);
      if (cell == Cell::gru) {
        slopes[0] = dn * r;
        slopes[1] = dn * saved[3] * r * (1 - r);
        slopes[2] = dz;
        slopes[3] = dn;
      } else {
        slopes[1] = dz;
        slopes[2] = dn;
      }
      return d * z;
    }
    case Cell::lstm: {
      const float i = saved[0];
      const float f = saved[1];
      const float g = saved[2];
      const float o = saved[3];
      const float t = ::tanhf(saved[4]);
      const float all = dm + d * o * (1 - t * t);
      slopes[0] = all * g * i * (1 - i);
      slopes[1] = all * m_before * f * (1 - f);
      slopes[2] = all * i * (1 - g * g);
      slopes[3] = d * t * o * (1 - o);
      dm = all * f;
      return 0;
    }
  }
  return 0;
}

/// to[i] = from[i * stride] for i < count, a number below kMost that is not known to the compiler.
template <int kMost>
__device__ inline void fetch(float (&to)[kMost], const float* from, int stride, int count) {
#pragma unroll
  for (int i = 0; i < kMost; ++i) to[i] = i < count ? from[i * stride] : 0.0F;
}

/// to[i * stride] = from[i] for i in [begin, count).
template <int kMost>
__device__ inline void store(const float (&from)[kMost], float* to, int stride, int count,
                             int begin = 0) {
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    if (i >= begin && i < count) to[i * stride] = from[i];
  }
}

}  // namespace linnet::cuda
