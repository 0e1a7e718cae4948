// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"

namespace linnet::cuda {

inline constexpr unsigned kTotalBlock = 1024;  ///< threads of total_kernel's blocks, at most

/// A block's share of the sum of f(i): sums[block], times `factor`.
template <class F, class T>
__global__ void __launch_bounds__(kTotalBlock)
    total_kernel(F f, std::int64_t items, double factor, T* sums) {
  double sum = 0;
  for (std::int64_t i = first_item(); i < items; i += grid_stride()) sum += f(i);
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = static_cast<T>(factor * sum);
}

/// f(i) of the second stage: the i-th partial sum.
struct PartialTotal {
  const double* sums;
  __device__ double operator()(std::int64_t i) const { return sums[i]; }
};

/// Returns the scalar output 0 = `factor` * the sum of f(i) over i in [0, items), added up in
/// double precision in an order that follows from `items` alone. make(args) gives f, a struct with
/// `__device__ double operator()(std::int64_t) const`. One launch for few items, else two. Uses the
/// workspace from byte 0 on.
template <class Make>
Kernel total(const char* name, std::int64_t items, double factor, Make make) {
  constexpr std::int64_t kFew = 16 * 1024;  // one block's
  constexpr std::int64_t kItemsOfThread = 16;
  if (items <= kFew) {
    const auto block = static_cast<unsigned>(
        std::clamp<std::int64_t>((items + kWarp - 1) / kWarp * kWarp, kWarp, kTotalBlock));
    return {.enqueue = [=](const Args& args) {
      const auto f = make(args);
      launch(args.stream, name, {.block = block}, total_kernel<decltype(make(args)), float>, f,
             items, factor, args.out(kFirst));
    }};
  }
  const auto blocks = static_cast<unsigned>(
      std::min<std::int64_t>((items - 1) / (kItemsOfThread * kBlock) + 1, 1024));
  const auto enqueue = [=](const Args& args) {
    auto* sums = args.work<double>();
    launch(args.stream, name, {.grid = blocks, .block = kBlock},
           total_kernel<decltype(make(args)), double>, make(args), items, 1.0, sums);
    launch(args.stream, name, {.block = kBlock}, total_kernel<PartialTotal, float>,
           PartialTotal{sums}, static_cast<std::int64_t>(blocks), factor, args.out(kFirst));
  };
  return {.enqueue = enqueue, .workspace_bytes = sizeof(double) * blocks};
}

/// 1 / count, and 0 for an empty batch, whose loss is 0.
constexpr double mean_factor(std::int64_t count) {
  return count > 0 ? 1.0 / static_cast<double>(count) : 0.0;
}

}  // namespace linnet::cuda
