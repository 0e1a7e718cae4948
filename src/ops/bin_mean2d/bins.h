// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/bin_mean2d/bin_mean2d.h"

namespace linnet {

// Constexpr, since CUDA kernels call them as well.

/// Pixels, or bins, [begin, end).
struct BinRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  constexpr std::int64_t size() const { return end - begin; }
};

/// The bins along one axis.
struct Bins {
  std::int64_t dim = 1;  ///< of the image
  std::int64_t count = 1;
  std::int64_t size = 0;  ///< 0: adaptive
  std::int64_t stride = 1;
  std::int64_t pad = 0;

  /// Returns the pixels of bin i.
  constexpr BinRange pixels(std::int64_t i) const {
    if (size == 0) return {i * dim / count, ((i + 1) * dim + count - 1) / count};
    const std::int64_t start = i * stride - pad;
    return {std::max<std::int64_t>(start, 0), std::min<std::int64_t>(start + size, dim)};
  }
  /// Returns the bins that hold the pixel.
  constexpr BinRange over(std::int64_t pixel) const {
    if (size == 0) {
      return {pixel * count / dim, ((pixel + 1) * count + dim - 1) / dim};
    }
    const std::int64_t place = pixel + pad;
    const std::int64_t before = place - size;
    return {before < 0 ? 0 : before / stride + 1,
            std::min<std::int64_t>(place / stride + 1, count)};
  }
};

/// All dimensions of a BinMean2dOp.
struct BinShape {
  std::int64_t n = 0;
  std::int64_t c = 0;
  Bins rows;
  Bins columns;

  constexpr std::int64_t inputs() const { return n * rows.dim * columns.dim * c; }
  constexpr std::int64_t outputs() const { return n * rows.count * columns.count * c; }
};

/// Throws Error where the bins don't fit images x (N, H, W, C).
BinShape bin_shape(const BinMean2dAttrs& attrs, const Shape& x);
/// Returns the dimensions of a gradient operator from its dy.
BinShape bin_shape(const BinMean2dGradAttrs& attrs, const Shape& dy);

}  // namespace linnet
