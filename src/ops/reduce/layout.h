// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/value.h"

namespace linnet {

/// Neighbouring axes that are all reduced or all kept, counted as one.
struct ReduceGroup {
  std::int64_t dim = 1;
  std::int64_t stride = 1;  ///< in elements of the array that is reduced
  bool reduced = false;
};

/// Returns the groups of `shape`, the fastest first; axes of dimension 1 belong to none. `axes` are
/// ascending axes of it.
inline std::vector<ReduceGroup> reduce_groups(const Shape& shape,
                                              std::span<const std::int64_t> axes) {
  std::vector<ReduceGroup> groups;
  std::int64_t stride = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    const std::int64_t dim = shape.dims()[i];
    const bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(i));
    if (dim != 1 && !groups.empty() && groups.back().reduced == reduced) {
      groups.back().dim *= dim;
    } else if (dim != 1) {
      groups.push_back({dim, stride, reduced});
    }
    stride *= dim;
  }
  return groups;
}

}  // namespace linnet
