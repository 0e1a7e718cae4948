// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>

#include "soft_threshold_cuda.h"

namespace {

constexpr unsigned kBlock = 256;

unsigned blocks_of(std::int64_t count) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((count + kBlock - 1) / kBlock, 1, 4096));
}

__global__ void soft_threshold(float threshold, std::int64_t count, const float* x, float* y) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    y[i] = copysignf(fmaxf(fabsf(x[i]) - threshold, 0.0F), x[i]);
  }
}

__global__ void soft_threshold_gradient(float threshold, std::int64_t count, const float* x,
                                        const float* dy, float* dx) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    dx[i] = fabsf(x[i]) > threshold ? dy[i] : 0.0F;
  }
}

}  // namespace

void launch_soft_threshold(float threshold, std::int64_t count, const float* x, float* y,
                           void* stream) {
  soft_threshold<<<blocks_of(count), kBlock, 0, static_cast<cudaStream_t>(stream)>>>(threshold,
                                                                                     count, x, y);
}

void launch_soft_threshold_gradient(float threshold, std::int64_t count, const float* x,
                                    const float* dy, float* dx, void* stream) {
  soft_threshold_gradient<<<blocks_of(count), kBlock, 0, static_cast<cudaStream_t>(stream)>>>(
      threshold, count, x, dy, dx);
}
