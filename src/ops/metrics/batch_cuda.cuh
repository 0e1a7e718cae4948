// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/device.cuh"
#include "graph/step.h"
#include "ops/finite_check/stop_cuda.cuh"
#include "ops/metrics/metrics.h"

namespace linnet::cuda {

/// Holds what a batch adds, besides its correct samples.
struct CountedBatch {
  double* counters = nullptr;
  const StepInfo* step = nullptr;
  std::uint64_t history = 0;
  bool shard = false;
  const float* loss = nullptr;
  double samples = 0;
  const float* weights = nullptr;  ///< null: all are 1
  std::int64_t weighed = 0;

  __device__ double weight_of(std::int64_t sample) const {
    return weights != nullptr ? weights[sample] : 1;
  }
  /// For a whole block; its first thread gets it.
  __device__ double weight() const {
    if (weights == nullptr) return samples;
    double sum = 0;
    for (std::int64_t i = threadIdx.x; i < weighed; i += blockDim.x) sum += weights[i];
    return block_sum(sum);
  }
  /// For one thread.
  __device__ void add(double correct, double weight) const { add(*loss, correct, weight); }
  /// The same where the thread has the loss at hand. The counters are read together, before any is
  /// written.
  __device__ void add(float mean, double correct, double weight) const {
    constexpr auto place = [](Counter c) { return static_cast<std::size_t>(c); };
    double after[kCounters];
#pragma unroll
    for (std::int64_t c = 0; c < kCounters; ++c) after[c] = shard ? 0 : counters[c];
    after[place(Counter::last_loss)] = mean;
    after[place(Counter::samples)] += samples;
    after[place(Counter::weight)] += weight;
    if (is_not_finite(mean)) {
      after[place(Counter::not_finite)] += 1;
    } else {
      after[place(Counter::loss)] += mean * weight;
    }
    after[place(Counter::correct)] += correct;
#pragma unroll
    for (std::int64_t c = 0; c < kCounters; ++c) counters[c] = after[c];
    if (history > 0) counters[kCounters + step->step % history] = mean;
  }
};

}  // namespace linnet::cuda
