// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/matmul.cuh"
#include "ops/activation/epilogue_cuda.cuh"

namespace linnet::cuda {

/// f(sum + b[column]): the tail of a product; bias may be null.
struct BiasAndActivation {
  const float* bias = nullptr;
  Activation activation = Activation::none;

  __device__ float operator()(float sum, std::int64_t /*row*/, std::int64_t column) const {
    return activated(activation, bias != nullptr ? sum + bias[column] : sum);
  }
};

}  // namespace linnet::cuda
