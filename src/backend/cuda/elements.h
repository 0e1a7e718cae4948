// SPDX-License-Identifier: Apache-2.0
#pragma once

// The types of elements in a device's memory, and how a kernel's template is chosen by them.
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>

#include "backend/cuda/kernel.h"

namespace linnet::cuda {

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

/// Returns whether four floats may be loaded and stored at once at these addresses, or kWidth of
/// what is stored in 16 bits; null is one.
template <int kWidth = 4, class... T>
bool vector_aligned(const T*... pointers) {
  constexpr auto alignment = [](bool half) { return half ? kWidth * sizeof(Bf16) : 16; };
  return ((reinterpret_cast<std::uintptr_t>(pointers) % alignment(kIsHalf<T>) == 0) && ...);
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
