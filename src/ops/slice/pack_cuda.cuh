// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/device.cuh"

namespace linnet::cuda {

/// kWidth neighbouring elements that are loaded and stored by one instruction: 16 bytes for four
/// floats.
template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
  T at[kWidth];
};

/// `from` must be aligned to the pack.
template <int kWidth, class T>
__device__ inline Pack<T, kWidth> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, kWidth>*>(from);
}
/// Returns the same, one by one where `aligned` is false.
template <int kWidth, class T>
__device__ inline Pack<T, kWidth> load_pack(const T* from, bool aligned) {
  if (aligned) return load_pack<kWidth>(from);
  Pack<T, kWidth> pack;
  for (int w = 0; w < kWidth; ++w) pack.at[w] = from[w];
  return pack;
}
template <class T, int kWidth>
__device__ inline void store_pack(T* to, const Pack<T, kWidth>& pack) {
  *reinterpret_cast<Pack<T, kWidth>*>(to) = pack;
}

/// Returns whether all addresses take packs of four floats; a null pointer does.
template <class... Pointer>
bool aligned_for_packs(Pointer... at) {
  return ((reinterpret_cast<std::uintptr_t>(at) % 16 == 0) && ...);
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
