// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/reduce/layout.h"

namespace linnet::cpu {

/// Describes how the elements of a reduction lie in memory. An output's elements are, for each of
/// `offsets`, a run of `run` elements, `step` apart; outputs come in rows of `columns` that lie
/// side by side.
struct ReduceLayout {
  struct Axis {
    std::int64_t dim;
    std::int64_t stride;
  };

  std::vector<Axis> kept;             ///< all kept axes but the columns, the slowest first
  std::vector<std::int64_t> offsets;  ///< ascending: the elements are met in row-major order
  std::int64_t run = 1;
  std::int64_t step = 1;
  std::int64_t columns = 1;

  std::int64_t rows() const {
    std::int64_t count = 1;
    for (const Axis& axis : kept) count *= axis.dim;
    return count;
  }
  /// Returns where the elements of an output row begin.
  std::int64_t base(std::int64_t row) const {
    if (kept.size() == 1) return row * kept[0].stride;
    std::int64_t at = 0;
    for (std::size_t i = kept.size(); i-- > 0;) {
      at += row % kept[i].dim * kept[i].stride;
      row /= kept[i].dim;
    }
    return at;
  }
  double elements_per_output() const {
    return static_cast<double>(run) * static_cast<double>(offsets.size());
  }
};

/// `axes` are ascending axes of `shape`.
inline ReduceLayout reduce_layout(const Shape& shape, std::span<const std::int64_t> axes) {
  const std::vector<ReduceGroup> groups = reduce_groups(shape, axes);
  ReduceLayout layout;
  layout.offsets = {0};
  bool has_run = false;
  for (const ReduceGroup& group : groups) {
    if (group.reduced && !has_run) {
      layout.run = group.dim;
      layout.step = group.stride;
      has_run = true;
    } else if (group.reduced) {
      std::vector<std::int64_t> offsets;
      for (std::int64_t k = 0; k < group.dim; ++k) {
        for (std::int64_t offset : layout.offsets) offsets.push_back(k * group.stride + offset);
      }
      layout.offsets = std::move(offsets);
    } else if (&group == &groups.front()) {
      layout.columns = group.dim;
    } else {
      layout.kept.insert(layout.kept.begin(), {group.dim, group.stride});
    }
  }
  return layout;
}

}  // namespace linnet::cpu
