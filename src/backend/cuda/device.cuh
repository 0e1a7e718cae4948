// SPDX-License-Identifier: Apache-2.0
#pragma once

// What kernels share: indices, shared memory, sums in a fixed order.
#include <cstdint>

#include "backend/cuda/launch.h"

namespace linnet::cuda {

/// for (auto i : over the items of this thread): first, first + stride, ...
__device__ inline std::int64_t first_item() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t grid_stride() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

#ifndef LINNET_CUDA_SIM
/// Returns the launch's dynamic shared memory (LaunchShape::shared_bytes), 16-byte aligned.
template <class T>
__device__ inline T* shared_memory() {
  extern __shared__ __align__(16) unsigned char linnet_dynamic_shared[];
  return reinterpret_cast<T*>(linnet_dynamic_shared);
}
#else
template <class T>
T* shared_memory() {
  return reinterpret_cast<T*>(sim::dynamic_shared());
}
#endif

inline constexpr unsigned kFullWarp = 0xFFFFFFFFU;

/// Returns the sum over a full warp, in every lane; the order of additions is fixed.
template <class T>
__device__ inline T warp_sum(T value) {
  for (int lane = kWarp / 2; lane > 0; lane /= 2) value += __shfl_xor_sync(kFullWarp, value, lane);
  return value;
}

template <class T>
__device__ inline T warp_max(T value) {
  for (int lane = kWarp / 2; lane > 0; lane /= 2) {
    const T other = __shfl_xor_sync(kFullWarp, value, lane);
    value = other > value ? other : value;
  }
  return value;
}

/// Returns the sum over a block of up to 1024 threads (a whole number of warps, one-dimensional),
/// in every thread. Every thread must call it.
template <class T>
__device__ inline T block_sum(T value) {
  __shared__ T sums[32];
  const unsigned warp = threadIdx.x / kWarp;
  value = warp_sum(value);
  __syncthreads();  // the last call's sums have been read
  if (threadIdx.x % kWarp == 0) sums[warp] = value;
  __syncthreads();
  const unsigned lane = threadIdx.x % kWarp;
  return warp_sum(lane < blockDim.x / kWarp ? sums[lane] : T{});
}

}  // namespace linnet::cuda
