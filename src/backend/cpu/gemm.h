// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet::cpu {

/// A matrix in row-major order; `transposed` says that its transpose is meant.
struct Matrix {
  const float* data = nullptr;
  std::int64_t stride = 0;  ///< elements from one stored row to the next
  bool transposed = false;
};

/// c = a b + beta c on the calling thread alone: a is (m, k), b (k, n), c (m, n) after
/// transposition. oneDNN's sgemm, f32 accumulation. Equal bits for equal operands and extents.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix a, Matrix b, float* c,
          std::int64_t c_stride, float beta = 0.0F);

}  // namespace linnet::cpu
