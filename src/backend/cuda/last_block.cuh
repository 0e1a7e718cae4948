// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/device.cuh"

namespace linnet::cuda {

/// Returns whether this block is the last of `blocks` that take the same ticket (Args::tickets):
/// what all of them wrote before is visible to its threads. Which block it is differs from run to
/// run, so what it computes may not depend on it. Every thread of every such block calls it, once;
/// then the ticket is 0 again. As CUB and PyTorch add the parts of a sum without a second kernel.
__device__ inline bool is_last_block(unsigned* ticket, unsigned blocks) {
  __shared__ bool last;
  __syncthreads();  // the block has written what others shall see
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(ticket, 1U) == blocks - 1;
    if (last) *ticket = 0;
    __threadfence();
  }
  __syncthreads();
  return last;
}

/// Adds `value` over all threads of `blocks` blocks, of which this is number `block`, in an order
/// that follows from the shapes alone. Returns true in one block; there every thread gets the sum.
/// parts: a number for each block, unless there is one. Every thread must call it.
template <class T>
__device__ bool grid_sum(T& value, T* parts, unsigned* ticket, unsigned block, unsigned blocks) {
  value = block_sum(value);
  if (blocks == 1) return true;
  if (threadIdx.x == 0) parts[block] = value;
  if (!is_last_block(ticket, blocks)) return false;
  value = T{};
  for (unsigned i = threadIdx.x; i < blocks; i += blockDim.x) value += parts[i];
  value = block_sum(value);
  return true;
}
template <class T>
__device__ bool grid_sum(T& value, T* parts, unsigned* ticket) {
  return grid_sum(value, parts, ticket, blockIdx.x, gridDim.x);
}

/// Returns bytes of the parts that grid_sum() needs in such a launch.
template <class T>
std::size_t grid_sum_bytes(const LaunchShape& shape) {
  return shape.grid.x > 1 ? sizeof(T) * shape.grid.x : 0;
}

}  // namespace linnet::cuda
