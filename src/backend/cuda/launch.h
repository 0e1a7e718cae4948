// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>

#include "backend/cuda/cuda_api.h"

namespace linnet::cuda {

struct LaunchShape {
  dim3 grid = 1;
  dim3 block = 1;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory: shared_memory<T>() in the kernel
};

inline constexpr unsigned kBlock = 256;  ///< threads of a block where nothing speaks for another

/// Enough blocks for `items`, one thread each, but no more than fill a large device four times
/// over: kernels go on in strides of the whole grid (GridStride).
inline LaunchShape for_items(std::int64_t items, unsigned block = kBlock) {
  const std::int64_t blocks = (items + block - 1) / block;
  return {.grid = static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, 4096)), .block = block};
}

#ifdef LINNET_CUDA_SIM

/// Runs `kernel` on the CPU, block after block; recorded under `name`.
template <class... P, class... A>
void launch(cudaStream_t stream, const char* name, const LaunchShape& shape, void (*kernel)(P...),
            A... args) {
  sim::launch(stream, name, shape.grid, shape.block, shape.shared_bytes,
              [=] { kernel(static_cast<P>(args)...); });
}

#else

/// Enqueues `kernel(args...)` on `stream`; `name` is for errors. Throws Error where the launch is
/// refused.
template <class... P, class... A>
void launch(cudaStream_t stream, const char* name, const LaunchShape& shape, void (*kernel)(P...),
            A... args) {
  std::tuple<P...> values(static_cast<P>(args)...);
  std::apply(
      [&](auto&... value) {
        std::array<void*, sizeof...(P) + 1> pointers{&value..., nullptr};
        if (shape.shared_bytes > 48 * 1024) {
          check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shape.shared_bytes)),
                name);
        }
        check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), shape.grid, shape.block,
                               pointers.data(), shape.shared_bytes, stream),
              name);
      },
      values);
}

#endif

}  // namespace linnet::cuda
