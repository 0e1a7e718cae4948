// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/queue.h"
#include "graph/value.h"
#include "ops/activation/activation.h"

namespace linnet::cuda {

// The kernel after a library's product, for host code that no nvcc compiles.

/// What becomes of a product x: y = f(x + b). Both are (rows, columns), f32 or one 16-bit type;
/// y has no gaps and may be x.
struct ProductResult {
  const void* x = nullptr;
  DType x_type = DType::f32;
  std::int64_t x_stride = 0;  ///< from row to row
  void* y = nullptr;
  DType y_type = DType::f32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const float* b = nullptr;  ///< (columns), or none
  Activation activation = Activation::none;
};
void enqueue_result(const Queue& stream, const ProductResult& result);

}  // namespace linnet::cuda
