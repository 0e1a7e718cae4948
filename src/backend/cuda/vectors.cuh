// SPDX-License-Identifier: Apache-2.0
#pragma once

// Neighbouring elements that a thread loads, computes and stores at once.
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
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

/// An activation in memory that is stored as a bfloat16, the upper half of a float.
struct Bf16 {
  std::uint16_t bits;
};
/// The same as IEEE's binary16.
struct F16 {
  std::uint16_t bits;
};
template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Bf16> || std::is_same_v<T, F16>;

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

/// Returns whether four floats may be loaded and stored at once at these addresses, or kWidth of
/// what is stored in 16 bits; null is one.
template <int kWidth = 4, class... T>
bool vector_aligned(const T*... pointers) {
  constexpr auto alignment = [](bool half) { return half ? kWidth * sizeof(Bf16) : 16; };
  return ((reinterpret_cast<std::uintptr_t>(pointers) % alignment(kIsHalf<T>) == 0) && ...);
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

/// Returns f.template operator()<T>() for the T that a 16-bit type is stored as.
template <class F>
auto with_half(DType type, F f) {
  if (type == DType::f16) return f.template operator()<F16>();
  return f.template operator()<Bf16>();
}

/// Returns the same for the T that activations of this type are stored as.
template <class F>
auto with_element(DType type, F f) {
  return is_half(type) ? with_half(type, f) : f.template operator()<float>();
}

/// The same for operands of which these are all stored alike; null where they are not, or others
/// are stored in 16 bits.
template <class F>
std::optional<Kernel> with_stored(const NodeView& node, std::initializer_list<std::size_t> inputs,
                                  std::initializer_list<std::size_t> outputs, F f) {
  const std::optional<DType> type = stored_type(node, inputs, outputs);
  if (!type) return std::nullopt;
  return with_element(*type, f);
}

/// The same where all operands are stored alike.
template <class F>
std::optional<Kernel> with_one_type(const NodeView& node, F f) {
  if (!is_of_one_type(node)) return std::nullopt;
  return with_element(node.outputs.front().dtype, f);
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
