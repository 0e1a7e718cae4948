// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <linnet/types.h>

#include "backend/cuda/cuda_api.h"

namespace linnet::cuda {

/// Pseudo-random numbers for a trial: zeros would be multiplied with less power, and so faster.
struct Noise {
  float least = -1;
  float most = 1;
  DType type = DType::f32;  ///< or bf16, or f16
  std::size_t seed = 0;     ///< equal ones give equal numbers
};

/// Device memory becomes noise, which repeats itself, in the order of `stream`; waits for it.
/// Throws Error.
void fill(void* memory, std::size_t bytes, const Noise& noise, cudaStream_t stream);

}  // namespace linnet::cuda
