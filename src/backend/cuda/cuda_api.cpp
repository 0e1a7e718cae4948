// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_api.h"

#include "base/check.h"

namespace linnet::cuda {

void check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // else the next call would report it again
  fail<DeviceError>("[CUDA] {}: {} ({})", what, cudaGetErrorString(status),
                    cudaGetErrorName(status));
}

}  // namespace linnet::cuda
