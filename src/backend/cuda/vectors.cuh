// SPDX-License-Identifier: Apache-2.0
#pragma once

// Neighbouring elements that a thread loads, computes and stores at once.
#include <cstdint>

#include "backend/cuda/device.cuh"

namespace linnet::cuda {

/// kWidth elements that one instruction loads or stores, such as 16 bytes for four floats. In
/// registers, where indices are known at compile time.
template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Vector {
  T values[kWidth];
  __device__ T& operator[](int i) { return values[i]; }
  __device__ T operator[](int i) const { return values[i]; }
};
template <int kWidth>
using FloatVector = Vector<float, kWidth>;

/// Returns whether four floats may be loaded and stored at once at these addresses; null is one.
template <class... T>
bool vector_aligned(const T*... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

/// Loads kWidth elements; where `aligned` is false, one by one.
template <int kWidth, class T>
__device__ inline Vector<T, kWidth> load_vector(const T* from, bool aligned = true) {
  if (aligned) return *reinterpret_cast<const Vector<T, kWidth>*>(from);
  Vector<T, kWidth> vector;
  for (int v = 0; v < kWidth; ++v) vector[v] = from[v];
  return vector;
}

template <int kWidth, class T>
__device__ inline void store_vector(T* to, const Vector<T, kWidth>& vector, bool aligned = true) {
  if (aligned) {
    *reinterpret_cast<Vector<T, kWidth>*>(to) = vector;
    return;
  }
  for (int v = 0; v < kWidth; ++v) to[v] = vector[v];
}

/// Calls f with a zero of the integer type to divide `largest` and smaller indices in: 32 bits
/// where they do, which take a quarter of the time of 64.
template <class F>
void with_index(std::int64_t largest, F f) {
  if (largest < std::int64_t{1} << 30) {
    f(std::int32_t{});
  } else {
    f(std::int64_t{});
  }
}

}  // namespace linnet::cuda
