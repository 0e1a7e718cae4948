// SPDX-License-Identifier: Apache-2.0
#pragma once

// How CUDA's kernels go over the ranges of flat arrays.
#include <algorithm>
#include <cstdint>
#include <span>

#include "ops/optimizer_update/optimizer_update.h"

namespace linnet::cuda {

/// As many ranges as a kernel's argument holds; more go to further launches.
inline constexpr int kManyRanges = 64;

static_assert(kRangeUnit == 4, "vectors of four elements lie in one range");

/// The elements of up to kMost ranges, one range after the other, as items from 0 on.
template <int kMost>
struct RangeTable {
  int count;
  std::int64_t items;
  std::int64_t end[kMost];    ///< the item after a range's last one
  std::int64_t shift[kMost];  ///< from a range's items to its elements
  double rate_factor[kMost];
  double weight_decay[kMost];
  std::int64_t left_out[kMost];

  /// Returns the element of an item; `range` becomes the item's. A thread asks in rising order and
  /// begins with range 0. kRangeUnit items from a multiple of it on lie in one range.
  constexpr std::int64_t element(std::int64_t item, int& range) const {
    if constexpr (kMost > 1) {
      while (item >= end[range]) ++range;
    }
    return item + shift[range];
  }
};

template <int kMost>
RangeTable<kMost> table_of(std::span<const UpdateRange> ranges) {
  RangeTable<kMost> table{};
  table.count = static_cast<int>(ranges.size());
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    table.shift[r] = ranges[r].begin - table.items;
    table.items += ranges[r].size();
    table.end[r] = table.items;
    table.rate_factor[r] = ranges[r].rate_factor;
    table.weight_decay[r] = ranges[r].weight_decay;
    table.left_out[r] = ranges[r].left_out;
  }
  return table;
}

/// Calls `run(table, last)` for all ranges: of one, or of as many as a table holds.
template <class F>
void for_tables(std::span<const UpdateRange> ranges, F run) {
  if (ranges.size() == 1) return run(table_of<1>(ranges), true);
  for (std::size_t at = 0; at < ranges.size(); at += kManyRanges) {
    const std::size_t count = std::min<std::size_t>(ranges.size() - at, kManyRanges);
    run(table_of<kManyRanges>(ranges.subspan(at, count)), at + count == ranges.size());
  }
}

}  // namespace linnet::cuda
