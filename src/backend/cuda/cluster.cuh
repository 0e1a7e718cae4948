// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include "backend/cuda/cuda_api.h"

namespace linnet::cuda {

/// Blocks of a cluster, at most: what every device that has clusters can hold.
inline constexpr unsigned kCluster = 8;

/// Returns whether a device of this compute capability (90, ...) has clusters, and the code that it
/// runs of this file was compiled for them.
inline bool has_clusters(int compute_capability) {
#ifdef __CUDA_ARCH_LIST__
  for (const int compiled : {__CUDA_ARCH_LIST__}) {
    if (compiled >= 900 && compiled <= 10 * compute_capability) return true;
  }
  return false;
#else
  return compute_capability >= 90;
#endif
}

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
  __trap();  // has_clusters() says so before
#endif
}

}  // namespace linnet::cuda
