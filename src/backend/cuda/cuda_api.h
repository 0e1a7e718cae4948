// SPDX-License-Identifier: Apache-2.0
#pragma once

// The CUDA runtime: NVIDIA's, or in tests the simulated one of backend/cuda/sim, which runs kernels
// on the CPU. Everything else in this folder is compiled against both.
#include <cuda_runtime.h>

#include <string_view>

namespace linnet::cuda {

/// Throws Error "[CUDA] <what>: <the runtime's message>" unless `status` is cudaSuccess.
/// `what` names the call, and the operator with its shapes where there is one.
void check(cudaError_t status, std::string_view what);

}  // namespace linnet::cuda
