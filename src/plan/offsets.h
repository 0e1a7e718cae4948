// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "core/align.h"

namespace linnet {

/// A block of memory wanted from node `first` to node `last`, both included.
struct Interval {
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t offset = 0;  ///< the answer
  bool fixed = false;      ///< the offset is given; those that are may overlap each other
};

/// Gives every interval an offset such that two that are alive together don't overlap; returns the
/// bytes needed. Largest first, each into the smallest gap that holds it (greedy by size; Pisarchyk
/// and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020). Where that needs 2
/// % more than what is alive at the same time, the largest products of size and life, the longest
/// lives, and what is alive last, are tried first as well, and the least is taken.
std::size_t assign_offsets(std::vector<Interval>& intervals);

}  // namespace linnet
