// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "backend/cuda/device.cuh"
#include "ops/finite_check/finite_check.h"

namespace linnet::cuda {

__device__ inline bool is_not_finite(float value) {
  return !(::fabsf(value) <= std::numeric_limits<float>::max());
}

/// Of a step's threads that call it each writes the same number.
__device__ inline void stop(double* stopped, const StepInfo& step) {
  if (*stopped == 0) *stopped = stop_at(0, step);
}

}  // namespace linnet::cuda
