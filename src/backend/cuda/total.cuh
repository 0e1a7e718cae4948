// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "backend/cuda/last_block.cuh"

namespace linnet::cuda {

inline constexpr unsigned kTotalBlock = 1024;  ///< threads of total_kernel's blocks, at most

/// *total = `factor` * the sum of f(i).
template <class F>
__global__ void __launch_bounds__(kTotalBlock)
    total_kernel(F f, std::int64_t items, double factor, double* parts, unsigned* ticket,
                 float* total) {
  double sum = 0;
  for (std::int64_t i = first_item(); i < items; i += grid_stride()) sum += f(i);
  if (grid_sum(sum, parts, ticket) && threadIdx.x == 0) *total = static_cast<float>(factor * sum);
}

/// Returns the scalar output 0 = `factor` * the sum of f(i) over i in [0, items), added up in
/// double precision in an order that follows from `items` alone. make(args) gives f, a struct with
/// `__device__ double operator()(std::int64_t) const`. Uses the workspace from byte 0 on.
template <class Make>
Kernel total(const char* name, std::int64_t items, double factor, Make make) {
  constexpr std::int64_t kFew = 16 * 1024;  // one block's
  constexpr std::int64_t kItemsOfThread = 16;
  LaunchShape shape;
  if (items <= kFew) {
    shape.block = static_cast<unsigned>(
        std::clamp<std::int64_t>((items + kWarp - 1) / kWarp * kWarp, kWarp, kTotalBlock));
  } else {
    shape.block = kBlock;
    shape.grid = static_cast<unsigned>(
        std::min<std::int64_t>((items - 1) / (kItemsOfThread * kBlock) + 1, 1024));
  }
  const auto enqueue = [=](const Args& args) {
    const auto f = make(args);
    launch(args.stream, name, shape, total_kernel<decltype(make(args))>, f, items, factor,
           args.work<double>(), args.tickets, args.out(kFirst));
  };
  return {.enqueue = enqueue, .workspace_bytes = grid_sum_bytes<double>(shape)};
}

/// 1 / count, and 0 for an empty batch, whose loss is 0.
constexpr double mean_factor(std::int64_t count) {
  return count > 0 ? 1.0 / static_cast<double>(count) : 0.0;
}

}  // namespace linnet::cuda
