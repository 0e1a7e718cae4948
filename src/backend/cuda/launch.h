// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "backend/cuda/queue.h"

namespace linnet::cuda {

struct LaunchShape {
  dim3 grid = 1;
  dim3 block = 1;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory: shared_memory<T>() in the kernel
};

inline constexpr unsigned kWarp = 32;    ///< threads
inline constexpr unsigned kBlock = 256;  ///< threads of a block where nothing speaks for another

/// Returns enough blocks for `items`, one thread each, but no more than fill a large device four
/// times over: kernels go on in strides of the whole grid. No block for no items.
inline LaunchShape for_items(std::int64_t items, unsigned block = kBlock) {
  const std::int64_t blocks = (items + block - 1) / block;
  return {.grid = static_cast<unsigned>(std::min<std::int64_t>(blocks, 4096)), .block = block};
}

/// Lets launches of `kernel` have that much dynamic memory: without asking they get what its static
/// arrays leave of 48 KiB. Never less than before, which graphs may already hold.
inline void ask_for_shared_memory(const void* kernel, std::size_t bytes, const char* name) {
  cudaFuncAttributes now{};
  check(cudaFuncGetAttributes(&now, kernel), name);
  constexpr std::size_t kUnasked = 48 * 1024;
  const auto most = static_cast<std::size_t>(now.maxDynamicSharedSizeBytes);
  if (bytes <= most && bytes + now.sharedSizeBytes <= kUnasked) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(std::max(bytes, most))),
        name);
}

/// Returns whether a kernel has to run for the sake of this argument: one that ends a step, whose
/// loop would otherwise never end.
template <class T>
constexpr bool must_run(const T& argument) {
  if constexpr (requires { argument.must_run(); }) return argument.must_run();
  return false;
}

/// Enqueues `kernel(args...)`, unless the grid has no block; `name` is for errors and for lists
/// (Queue). Throws Error where the launch is refused, InternalError for an empty grid of a kernel
/// that must run. A kernel for blocks of more than kBlock threads declares them by
/// __launch_bounds__.
template <class... P, class... A>
void launch(const Queue& queue, const char* name, const LaunchShape& shape, void (*kernel)(P...),
            A... args) {
  if (shape.grid.x == 0) {
    LINNET_ASSERT(!(must_run(args) || ...));
    return;
  }
  if (queue.lists({.name = name})) return;
  const auto* function = reinterpret_cast<const void*>(kernel);
  if (shape.shared_bytes > 0) ask_for_shared_memory(function, shape.shared_bytes, name);
#ifdef LINNET_CUDA_SIM
  std::size_t index = 0;
  [[maybe_unused]] const auto require_reachable = [&](const auto& value) {
    if constexpr (std::is_pointer_v<std::decay_t<decltype(value)>>) {
      sim::require_reachable(name, index, value);
    }
    ++index;
  };
  (require_reachable(static_cast<P>(args)), ...);
  sim::launch(
      queue.stream(), name, shape.grid, shape.block, shape.shared_bytes,
      [=] { kernel(static_cast<P>(args)...); }, function);
#else
  std::tuple<P...> values(static_cast<P>(args)...);
  std::apply(
      [&](auto&... value) {
        std::array<void*, sizeof...(P) + 1> pointers{&value..., nullptr};
        check(cudaLaunchKernel(function, shape.grid, shape.block, pointers.data(),
                               shape.shared_bytes, queue.stream()),
              name);
      },
      values);
#endif
}

}  // namespace linnet::cuda
