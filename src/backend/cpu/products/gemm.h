// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cpu/kernel.h"

namespace linnet::cpu {

/// A matrix in row-major order; `transposed` says that its transpose is meant.
struct Matrix {
  const float* data = nullptr;
  std::int64_t stride = 0;  ///< elements from one stored row to the next
  bool transposed = false;
};

/// a (m, k), b (k, n) and c (m, n), after transposition.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

/// Says how sums over rows are multiplied, a transposed and b not, as in weight gradients: by
/// tiles that both operands are packed into, as any other product (whole_product.h), or by the one
/// that was measured to be faster for this number of rows (docs/notes/).
enum class RowSums : std::uint8_t { faster, tiles, whole };

/// Returns bytes of scratch that a gemm() of these or smaller dimensions takes. Throws DeviceError
/// where oneDNN is needed and cannot be opened.
std::size_t gemm_scratch_bytes(const GemmShape& shape);

/// Computes c = a b, or c += a b, on the calling thread alone, in f32, as a whole product; sums
/// over rows as `sums` says. Equal bits for equal operands and dimensions; k = 0 gives zeros.
void gemm(const GemmShape& shape, const Matrix& a, const Matrix& b, float* c, std::int64_t c_stride,
          std::byte* scratch, bool accumulate = false, RowSums sums = RowSums::faster);

/// What each block of a product packs: b, also a, which is transposed in sums over rows, or none.
enum class PackedSides : std::uint8_t { right, both, none };

/// Blocks of a product as tasks, about square, so that little is packed twice.
class ProductTasks {
 public:
  explicit ProductTasks(const GemmShape& shape, PackedSides packed = PackedSides::right);

  struct Block {
    Range rows;
    Range columns;
  };
  int count() const { return row_parts_ * column_parts_; }
  Block block(int index) const;
  /// Returns the bytes of the largest block.
  std::size_t scratch_bytes() const;

 private:
  GemmShape shape_;
  int row_parts_ = 1;
  int column_parts_ = 1;
};

/// Range `index` of `columns` handed out in lines of a cache, so that vectors stay whole.
Range column_lines(std::int64_t columns, int tasks, int index);

}  // namespace linnet::cpu
