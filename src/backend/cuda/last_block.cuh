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

}  // namespace linnet::cuda
