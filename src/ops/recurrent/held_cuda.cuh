// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recurrence of layers whose recurrent weights fit into the registers of one multiprocessor: a
// block takes a sample or two through all steps, and each of its threads holds the weights of one
// sum, or of a part of it, all the time. A step reads the state from shared memory, and what the
// next one needs of device memory is fetched before the sums, so that it arrives meanwhile.
#include <cstdint>

#include "ops/recurrent/cell_cuda.cuh"
#include "ops/recurrent/plan_cuda.h"

namespace linnet::cuda {

/// A thread's part of a sum of products of a vector in shared memory: kTerms weights at most.
template <int kTerms, int kSamples>
struct HeldWeights {
  static_assert(kTerms % kHeldChunk == 0);
  float w[kTerms];

  /// Holds weight(i) for terms i of [begin, begin + terms), zeros from `end` on.
  template <class F>
  __device__ HeldWeights(int begin, int terms, int end, F weight) {
#pragma unroll
    for (int k = 0; k < kTerms; ++k) {
      w[k] = k < terms && begin + k < end ? weight(begin + k) : 0.0F;
    }
  }

  /// sums[i * sums_stride] = the products with v + i * stride, whose floats from `terms` on to the
  /// end of the last chunk are finite. v is aligned to 16 bytes, and the stride keeps it so.
  __device__ void multiply(const float* v, int stride, int terms, float* sums,
                           int sums_stride) const {
    float even[kSamples] = {};
    float odd[kSamples] = {};
#pragma unroll
    for (int chunk = 0; chunk < kTerms; chunk += kHeldChunk) {
      if (chunk >= terms) break;
#pragma unroll
      for (int k = chunk; k < chunk + kHeldChunk; k += 4) {
#pragma unroll
        for (int i = 0; i < kSamples; ++i) {
          const float4 x = *reinterpret_cast<const float4*>(v + i * stride + k);
          even[i] = fmaf(x.x, w[k], even[i]);
          odd[i] = fmaf(x.y, w[k + 1], odd[i]);
          even[i] = fmaf(x.z, w[k + 2], even[i]);
          odd[i] = fmaf(x.w, w[k + 3], odd[i]);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kSamples; ++i) sums[i * sums_stride] = even[i] + odd[i];
  }
};

/// What a thread does in its block: it adds up part `part` of sum `sum`, and where `works`, it
/// computes unit `unit` of the block's sample `row`.
struct HeldThread {
  int sum;
  int part;
  int unit;
  int row;
  bool works;

  __device__ HeldThread(const HeldCut& cut, int units, std::int64_t rows) {
    const int thread = static_cast<int>(threadIdx.x);
    part = thread / cut.sums;
    sum = thread - part * cut.sums;
    row = thread / units;
    unit = thread - row * units;
    works = row < rows && row < cut.samples;
  }
  __device__ bool sums(const HeldCut& cut) const { return part < cut.parts; }
};

/// Returns the sum of a sum's parts, always in the same order.
__device__ inline float of_parts(const HeldCut& cut, const float* parts) {
  float all = *parts;
  for (int part = 1; part < cut.parts; ++part) all += parts[part * cut.sums];
  return all;
}

/// For rows of a value for each sample and step, `width` floats apart: the thread's unit in the
/// row of the step that the recurrence takes as its `index`th.
template <class T>
__device__ inline T* unit_of(T* values, const RecurrentShape& s, const HeldThread& at, int first,
                             int index, std::int64_t width) {
  return values + ((first + at.row) * s.steps + s.step(index)) * width + at.unit;
}

struct HeldForward {
  RecurrentShape s;
  HeldCut cut;
  const float* w = nullptr;     ///< w_hh (columns, U)
  const float* b_ih = nullptr;  ///< null: no biases
  const float* b_hh = nullptr;
  float* y = nullptr;  ///< null: nobody reads it
  float* last = nullptr;
  float* saved = nullptr;  ///< begins with w_ih x in each step's columns
};

/// A block's memory: the states, `cut.stride` apart, then the sums' parts.
template <int kSize, int kSamples>
__global__ void __launch_bounds__(kHeldSizes[kSize].threads, 1) held_forward_kernel(HeldForward a) {
  const RecurrentShape& s = a.s;
  const HeldCut& cut = a.cut;
  const int u = static_cast<int>(s.units);
  const int steps = static_cast<int>(s.steps);
  const int gates = static_cast<int>(cell_gates(s.cell));
  const int kept = static_cast<int>(cell_saved(s.cell)) - 1;
  const int first = static_cast<int>(blockIdx.x) * kSamples;
  const HeldThread at(cut, u, s.n - first);
  float* h = shared_memory<float>();
  float* parts = h + kSamples * cut.stride;
  for (int i = threadIdx.x; i < kSamples * cut.stride; i += blockDim.x) h[i] = 0;
  const int begin = at.part * cut.terms;
  const HeldWeights<kHeldSizes[kSize].terms, kSamples> held(begin, at.sums(cut) ? cut.terms : 0, u,
                                                            [&](int k) {
                                                              return a.w[at.sum * u + k];
                                                            });

  float* row = unit_of(a.saved, s, at, first, 0, s.saved());
  const std::int64_t along = s.reverse ? -s.saved() : s.saved();
  float next[kMostGates] = {};
  if (at.works) fetch(next, row, u, gates);
  float state = 0;
  float m = 0;
  __syncthreads();
  for (int index = 0; index < steps; ++index) {
    float x[kMostGates];
#pragma unroll
    for (int g = 0; g < kMostGates; ++g) x[g] = next[g];
    if (at.works && index + 1 < steps) fetch(next, row + along, u, gates);
    if (at.sums(cut)) {
      held.multiply(h + begin, cut.stride, cut.terms, parts + at.part * cut.sums + at.sum,
                    cut.parts * cut.sums);
    }
    __syncthreads();
    if (at.works) {
      const float* own = parts + at.row * cut.parts * cut.sums + at.unit;
      float c[kMostGates];
#pragma unroll
      for (int g = 0; g < kMostGates; ++g) {
        c[g] = g < gates ? of_parts(cut, own + g * u) : 0.0F;
        if (g >= gates || a.b_ih == nullptr) continue;
        x[g] += __ldg(a.b_ih + g * u + at.unit);
        c[g] += __ldg(a.b_hh + g * u + at.unit);
      }
      row[s.state()] = state;
      float saved[kMostSaved] = {};
      state = cell_forward(s.cell, x, c, state, 0, m, saved);
      h[at.row * cut.stride + at.unit] = state;
      store(saved, row, u, kept);
      if (a.y != nullptr) *unit_of(a.y, s, at, first, index, u) = state;
      row += along;
    }
    __syncthreads();
  }
  if (at.works) a.last[std::int64_t{first + at.row} * u + at.unit] = state;
}

struct HeldBackward {
  RecurrentShape s;
  HeldCut cut;
  const float* w = nullptr;  ///< w_hh (columns, U)
  const float* saved = nullptr;
  const float* dy = nullptr;     ///< null: none
  const float* dlast = nullptr;  ///< null: none
  float* slopes = nullptr;       ///< (N, T, slopes)
};

/// A block's memory: the slopes of the sums over h, `cut.stride` apart, then the parts of dh.
template <int kSize, int kSamples>
__global__ void __launch_bounds__(kHeldSizes[kSize].threads, 1)
    held_backward_kernel(HeldBackward a) {
  const RecurrentShape& s = a.s;
  const HeldCut& cut = a.cut;
  const int u = static_cast<int>(s.units);
  const int steps = static_cast<int>(s.steps);
  const int gates = static_cast<int>(cell_gates(s.cell));
  const int kept = static_cast<int>(cell_saved(s.cell));
  const int first = static_cast<int>(blockIdx.x) * kSamples;
  const HeldThread at(cut, u, s.n - first);
  float* slopes = shared_memory<float>();
  float* parts = slopes + kSamples * cut.stride;
  const int floats = kSamples * (cut.stride + cut.parts * cut.sums);
  for (int i = threadIdx.x; i < floats; i += blockDim.x) slopes[i] = 0;
  const int begin = at.part * cut.terms;
  const int columns = gates * u;
  // A row of w_hh for each slope: GRU's begin with those of its last gate.
  const int turned = s.cell == Cell::gru ? 2 * u : 0;
  const HeldWeights<kHeldSizes[kSize].terms, kSamples> held(begin, at.sums(cut) ? cut.terms : 0,
                                                            columns, [&](int k) {
                                                              const int row =
                                                                  k + turned < columns
                                                                      ? k + turned
                                                                      : k + turned - columns;
                                                              return a.w[row * u + at.sum];
                                                            });

  const float* row = unit_of(a.saved, s, at, first, steps - 1, s.saved());
  const std::int64_t along = s.reverse ? s.saved() : -s.saved();
  float next[kMostSaved] = {};
  float next_dy = 0;
  const auto fetch_step = [&](int index) {
    fetch(next, row, u, kept);
    if (a.dy != nullptr) next_dy = *unit_of(a.dy, s, at, first, index, u);
  };
  float direct = 0;
  float dm = 0;
  if (at.works) {
    fetch_step(steps - 1);
    if (a.dlast != nullptr) direct = a.dlast[std::int64_t{first + at.row} * u + at.unit];
  }
  __syncthreads();
  for (int index = steps - 1; index >= 0; --index) {
    if (at.works) {
      float saved[kMostSaved] = {};
#pragma unroll
      for (int i = 0; i < kMostSaved; ++i) saved[i] = next[i];
      float d = direct + next_dy;
      row += along;
      if (index > 0) fetch_step(index - 1);
      const float m_before = index > 0 ? next[4] : 0.0F;
      d += of_parts(cut, parts + at.row * cut.parts * cut.sums + at.unit);
      float own[kMostGates] = {};
      direct = cell_backward(s.cell, saved, m_before, d, dm, own);
      store(own, slopes + at.row * cut.stride + at.unit, u, gates);
      store(own, unit_of(a.slopes, s, at, first, index, s.slopes()), u,
            static_cast<int>(s.slopes() / u));
    }
    __syncthreads();
    if (at.sums(cut)) {
      held.multiply(slopes + begin, cut.stride, cut.terms, parts + at.part * cut.sums + at.sum,
                    cut.parts * cut.sums);
    }
    __syncthreads();
  }
}

template <int kSize>
auto held_forward_of(int samples) {
  return samples == 1 ? held_forward_kernel<kSize, 1> : held_forward_kernel<kSize, 2>;
}
template <int kSize>
auto held_backward_of(int samples) {
  return samples == 1 ? held_backward_kernel<kSize, 1> : held_backward_kernel<kSize, 2>;
}

/// Returns the kernel of a cut.
inline auto held_forward(const HeldCut& cut) {
  switch (cut.size) {
    case 0: return held_forward_of<0>(cut.samples);
    case 1: return held_forward_of<1>(cut.samples);
    case 2: return held_forward_of<2>(cut.samples);
    default: return held_forward_of<3>(cut.samples);
  }
}
inline auto held_backward(const HeldCut& cut) {
  switch (cut.size) {
    case 0: return held_backward_of<0>(cut.samples);
    case 1: return held_backward_of<1>(cut.samples);
    case 2: return held_backward_of<2>(cut.samples);
    default: return held_backward_of<3>(cut.samples);
  }
}

}  // namespace linnet::cuda
