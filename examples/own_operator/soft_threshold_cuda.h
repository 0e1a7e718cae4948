// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The launches of soft_threshold_cuda.cu on `count` elements; `stream` is a cudaStream_t.
void launch_soft_threshold(float threshold, std::int64_t count, const float* x, float* y,
                           void* stream);
void launch_soft_threshold_gradient(float threshold, std::int64_t count, const float* x,
                                    const float* dy, float* dx, void* stream);
