// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/queue.h"
#include "ops/activation/activation.h"

namespace linnet::cuda {

// Kernels before and after a library's product, for host code that no nvcc compiles.

/// Computes y = f(y + b) in place: y (rows, columns) without gaps, b (columns) or null.
void enqueue_bias_activation(const Queue& stream, float* y, std::int64_t rows, std::int64_t columns,
                             const float* b, Activation activation);

/// An f32 matrix without gaps, and where it goes as bf16, with rows of `stride` elements (a
/// multiple of 4), the gaps filled with zeros. `to` is 8-byte aligned.
struct Bf16Copy {
  const float* from = nullptr;
  void* to = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;
};

/// Rounds both to the nearest, ties to even, in one launch.
void enqueue_bf16_copies(const Queue& stream, const Bf16Copy& first, const Bf16Copy& second);

}  // namespace linnet::cuda
