// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/activation/formulas.h"

namespace linnet::cuda {

/// f(x) of a kind that all threads share: for the tails of products and convolutions, which are not
/// worth a kernel per kind.
__device__ inline float activated(Activation kind, float x) {
  return with_activation(kind, [x]<Activation kKind>() { return activate_f32<kKind>(x); });
}

/// f(sum + b[column]): the tail of a product or convolution; bias may be null.
struct BiasAndActivation {
  const float* bias = nullptr;
  Activation activation = Activation::none;

  __device__ float operator()(float sum, std::int64_t /*row*/, std::int64_t column) const {
    return activated(activation, bias != nullptr ? sum + bias[column] : sum);
  }
};

}  // namespace linnet::cuda
