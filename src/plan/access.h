// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.h"

namespace linnet {

/// Describes memory that a node reads or writes: bytes [begin, end) of a storage; of the external
/// one, slots.
struct Access {
  Storage storage = Storage::arena;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool writes = false;

  /// Returns whether the order of the two matters.
  bool conflicts(const Access& other) const {
    return (writes || other.writes) && storage == other.storage && begin < other.end &&
           other.begin < end;
  }
};

struct Plan;

/// Returns what a node of a plan reads and writes, its workspace too.
std::vector<Access> accesses(const Plan& plan, std::size_t node);

}  // namespace linnet
