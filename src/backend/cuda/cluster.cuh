// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/cuda_api.h"

namespace linnet::cuda {

/// Blocks of a cluster, at most: what every device that has clusters can hold.
inline constexpr unsigned kCluster = 8;
/// The first compute capability that has them.
inline constexpr int kClusterCapability = 90;

/// Waits until every thread of the blocks of a cluster (LaunchShape::cluster) that has not ended is
/// here; what they wrote before is visible after it. They run at the same time, by the hardware's
/// promise, so they can't wait for a block that has not begun. Every thread of a block must call
/// it.
__device__ inline void cluster_barrier() {
#if defined(LINNET_CUDA_SIM)
  sim_cluster_barrier();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#elif defined(__CUDA_ARCH__)
  __trap();  // such a launch is refused before
#endif
}

}  // namespace linnet::cuda
