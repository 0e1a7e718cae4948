// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backend/cuda/queue.h"

namespace linnet::cuda {

/// C (m, n) = f(op(A) op(B)): row-major f32, f an epilogue by element.
/// op(A) (m, k) and op(B) (k, n) are stored like that or, if transposed, as (k, m) and (n, k).
struct MatrixProduct {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  /// Elements from one stored row to the next; 0: rows follow each other without gaps.
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;

  bool operator==(const MatrixProduct&) const = default;
  std::int64_t stride_a() const { return lda != 0 ? lda : (transpose_a ? m : k); }
  std::int64_t stride_b() const { return ldb != 0 ? ldb : (transpose_b ? k : n); }
  std::int64_t stride_c() const { return ldc != 0 ? ldc : n; }
};

/// Linnet's own kernel for a product and how it is cut, from the shape alone (never from the
/// device), so that sums are added in the same order everywhere.
struct MatmulPlan {
  enum class Kind : std::uint8_t { empty, tiles, dots, thin_sums };
  Kind kind = Kind::empty;
  MatrixProduct product;
  int tile = 0;                  ///< tiles: rows and columns of C in a block (32, 64 or 128)
  int splits = 1;                ///< parts of k that blocks sum apart; a second pass adds them up
  std::int64_t split_terms = 0;  ///< of k, in each part but the last
  bool block_dots = false;       ///< dots: a block's warps share the terms, not one warp alone
  std::size_t workspace_bytes = 0;
  std::string engine = {};  ///< for dumps: "tiles 64x64, k in 8"
};

/// Returns the columns of the wide side that a block of thin_sums takes, beside `thin` others.
constexpr std::int64_t thin_block_columns(std::int64_t thin) {
  return thin <= 4 ? 128 : thin <= 8 ? 64 : 32;
}

/// Plans a product; m, n and k may be 0 (an empty sum is f(0)). Everything is fp32, sums by fmaf.
MatmulPlan plan_matmul(const MatrixProduct& product);

/// Device pointers of one call. C may not overlap A and B. workspace: MatmulPlan::workspace_bytes,
/// 16-byte aligned (null if 0).
struct MatmulOperands {
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  std::byte* workspace = nullptr;
  Queue stream = {};
};

/// An epilogue is a plain struct with
///   __device__ float operator()(float sum, std::int64_t row, std::int64_t column) const;
/// It is passed to enqueue_matmul(plan, operands, epilogue), declared in backend/cuda/matmul.cuh.

}  // namespace linnet::cuda
