// SPDX-License-Identifier: Apache-2.0
#pragma once

// Neighbouring elements that a thread loads, computes and stores at once.
#include <bit>
#include <cstdint>
#include <type_traits>

#include "backend/cuda/device.cuh"
#include "backend/cuda/elements.h"
#include "core/half.h"

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

/// To the nearest, ties to even; infinities stay, NaN stays NaN.
__device__ inline Bf16 to_bf16(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  Bf16 rounded;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded.bits) : "f"(value));
  return rounded;
#else
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};
  return {static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16)};
#endif
}

/// Does the same; what is too large becomes infinite.
__device__ inline F16 to_f16(float value) {
#if defined(__CUDA_ARCH__)
  F16 rounded;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(rounded.bits) : "f"(value));
  return rounded;
#else
  return {f16_of(value)};
#endif
}

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(Bf16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}
__device__ inline float to_float(F16 value) {
#if defined(__CUDA_ARCH__)
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
  return wide;
#else
  return float_of_f16(value.bits);
#endif
}

/// Returns a float as type T stores it.
template <class T>
__device__ inline T stored_as(float value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return to_bf16(value);
  } else if constexpr (std::is_same_v<T, F16>) {
    return to_f16(value);
  } else {
    return value;
  }
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

/// Loads kWidth activations as floats, or stores them.
template <int kWidth, class T>
__device__ inline FloatVector<kWidth> load_floats(const T* from, bool aligned = true) {
  const Vector<T, kWidth> stored = load_vector<kWidth>(from, aligned);
  if constexpr (std::is_same_v<T, float>) {
    return stored;
  } else {
    FloatVector<kWidth> vector;
    for (int v = 0; v < kWidth; ++v) vector[v] = to_float(stored[v]);
    return vector;
  }
}
template <int kWidth, class T>
__device__ inline void store_floats(T* to, const FloatVector<kWidth>& vector, bool aligned = true) {
  Vector<T, kWidth> stored;
  for (int v = 0; v < kWidth; ++v) stored[v] = stored_as<T>(vector[v]);
  store_vector(to, stored, aligned);
}

}  // namespace linnet::cuda
