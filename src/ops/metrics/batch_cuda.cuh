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
  bool leaf = false;
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
  __device__ void add(double correct, double weight) const {
    const auto count = [this](Counter c) -> double& {
      return counters[static_cast<std::size_t>(c)];
    };
    const float mean = *loss;
    if (leaf) {
      for (std::int64_t c = 0; c < kCounters; ++c) counters[c] = 0;
    }
    count(Counter::last_loss) = mean;
    if (history > 0) counters[kCounters + step->step % history] = mean;
    count(Counter::samples) += samples;
    count(Counter::weight) += weight;
    if (is_not_finite(mean)) {
      count(Counter::not_finite) += 1;
    } else {
      count(Counter::loss) += mean * weight;
    }
    count(Counter::correct) += correct;
  }
};

}  // namespace linnet::cuda
