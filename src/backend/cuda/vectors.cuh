// SPDX-License-Identifier: Apache-2.0
#pragma once

// One or four floats that a thread loads, computes and stores at once.
#include <cstdint>

#include "backend/cuda/cuda_api.h"

namespace linnet::cuda {

/// kVector floats in registers: indices must be known at compile time.
template <int kVector>
struct FloatVector {
  float values[kVector];
  __device__ float& operator[](int i) { return values[i]; }
  __device__ float operator[](int i) const { return values[i]; }
};

/// Returns whether 16-byte loads and stores may be used at these addresses.
template <class... T>
bool vector_aligned(const T*... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

/// Loads kVector floats; where `aligned` is false, one by one.
template <int kVector>
__device__ inline FloatVector<kVector> load_vector(const float* from, bool aligned) {
  static_assert(kVector == 1 || kVector == 4);
  if constexpr (kVector == 4) {
    if (aligned) {
      const float4 four = *reinterpret_cast<const float4*>(from);
      return {{four.x, four.y, four.z, four.w}};
    }
    return {{from[0], from[1], from[2], from[3]}};
  } else {
    return {{from[0]}};
  }
}

template <int kVector>
__device__ inline void store_vector(float* to, const FloatVector<kVector>& vector, bool aligned) {
  if constexpr (kVector == 4) {
    if (aligned) {
      *reinterpret_cast<float4*>(to) = make_float4(vector[0], vector[1], vector[2], vector[3]);
      return;
    }
  }
  for (int v = 0; v < kVector; ++v) to[v] = vector[v];
}

}  // namespace linnet::cuda
