// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/value.h"

namespace linnet {

/// An axis of a transposition: its strides in the operand and in the result, in elements.
struct TransposeAxis {
  std::int64_t dim = 1;
  std::int64_t from_stride = 1;
  std::int64_t to_stride = 1;
};

/// Returns the axes in the result's order: neighbours that stay neighbours count as one, those of
/// dimension 1 as none. At least one.
inline std::vector<TransposeAxis> merged_axes(const Shape& from,
                                              const std::vector<std::int64_t>& permutation) {
  std::vector<std::int64_t> strides(from.rank(), 1);
  for (std::size_t i = from.rank() - 1; i > 0; --i) strides[i - 1] = strides[i] * from.dims()[i];
  std::vector<TransposeAxis> axes;
  for (std::int64_t at : permutation) {
    const std::int64_t dim = from.dims()[static_cast<std::size_t>(at)];
    const std::int64_t stride = strides[static_cast<std::size_t>(at)];
    if (dim == 1) continue;
    if (!axes.empty() && axes.back().from_stride == dim * stride) {
      axes.back().dim *= dim;
      axes.back().from_stride = stride;
    } else {
      axes.push_back({dim, stride, 1});
    }
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  for (std::size_t i = axes.size() - 1; i > 0; --i) {
    axes[i - 1].to_stride = axes[i].to_stride * axes[i].dim;
  }
  return axes;
}

/// Returns how many indices the axes have together.
inline std::int64_t indices(std::span<const TransposeAxis> axes) {
  std::int64_t count = 1;
  for (const TransposeAxis& axis : axes) count *= axis.dim;
  return count;
}

/// Axes as a kernel's parameter.
struct TransposeAxes {
  TransposeAxis axis[Shape::kMostAxes];
  std::size_t count;

  explicit TransposeAxes(std::span<const TransposeAxis> axes) : count(axes.size()) {
    std::copy(axes.begin(), axes.end(), axis);
  }
  constexpr std::size_t size() const { return count; }
  constexpr const TransposeAxis& operator[](std::size_t i) const { return axis[i]; }
};

/// The operand's last axis, which runs along rows of its planes, and the result's.
struct TransposePlane {
  TransposeAxis row;
  TransposeAxis column;
};
/// Takes both out of `axes`, of which there are two or more; the last must not stay the last.
inline TransposePlane take_plane(std::vector<TransposeAxis>& axes) {
  const TransposeAxis column = axes.back();
  axes.pop_back();
  const auto last = std::find_if(axes.begin(), axes.end(),
                                 [](const TransposeAxis& axis) { return axis.from_stride == 1; });
  const TransposeAxis row = *last;
  axes.erase(last);
  return {row, column};
}

/// Describes where an index stands in the operand and in the result.
struct TransposePlace {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// Returns the place of index `i` over `axes`, the last the fastest; divides in the type of `i`.
template <class Axes, class Int>
constexpr TransposePlace transpose_place(const Axes& axes, Int i) {
  TransposePlace at;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const Int next = k == 0 ? 0 : i / static_cast<Int>(axes[k].dim);
    const std::int64_t index = i - next * static_cast<Int>(axes[k].dim);
    at.from += index * axes[k].from_stride;
    at.to += index * axes[k].to_stride;
    i = next;
  }
  return at;
}

}  // namespace linnet
