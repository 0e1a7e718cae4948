// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cpu/kernel.h"

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

/// Blocks of a product (rows, columns) as tasks: of rows; or, where these are few, of columns, so
/// that every task reads a part of the right operand of its own.
class ProductTasks {
 public:
  ProductTasks(std::int64_t rows, std::int64_t columns, std::int64_t terms);

  struct Block {
    Range rows;
    Range columns;
  };
  int count() const { return count_; }
  Block block(int index) const;

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  bool by_columns_;
  int count_;
};

/// Range `index` of `columns` handed out in lines of a cache, so that vectors stay whole.
Range column_lines(std::int64_t columns, int tasks, int index);

}  // namespace linnet::cpu
