// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <span>

#include "core/dims.h"
#include "graph/value.h"

namespace linnet {

/// An array seen as (outer, dimension, inner) around one of its axes.
struct AxisView {
  std::int64_t outer = 1;
  std::int64_t dim = 1;
  std::int64_t inner = 1;

  std::int64_t row() const { return dim * inner; }  ///< elements between two outer indices
};

inline std::int64_t product(std::span<const std::int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

/// `axis` must be one of the shape's.
inline AxisView axis_view(const Shape& shape, int axis) {
  const std::span<const std::int64_t> dims = shape.dims();
  const auto at = static_cast<std::size_t>(axis);
  return {product(dims.first(at)), dims[at], product(dims.subspan(at + 1))};
}

/// Returns the same shape with the dimension of `axis` replaced.
inline Shape with_dim(const Shape& shape, int axis, std::int64_t dim) {
  std::vector<std::int64_t> dims = dims_of(shape);
  dims[static_cast<std::size_t>(axis)] = dim;
  return Shape(dims);
}

/// Returns whether `axis` is one of the shape's and not the batch.
inline bool is_sample_axis(const Shape& shape, std::int64_t axis) {
  return axis >= 1 && axis < static_cast<std::int64_t>(shape.rank());
}

}  // namespace linnet
