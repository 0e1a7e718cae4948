// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Before a function that CUDA kernels call as well as the host, and that can't be constexpr.
#ifdef __CUDACC__
#define LINNET_HOST_DEVICE __host__ __device__
#else
#define LINNET_HOST_DEVICE
#endif
