// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.h"

namespace linnet {

/// Describes which nodes of a step run beside the others, on a second branch of what a GPU
/// captures. Each branch runs in the order of its nodes. A node of the side branch begins when all
/// nodes of the main branch that stand before it have ended.
struct Branches {
  static constexpr std::size_t kNobody = ~std::size_t{0};

  std::vector<bool> side = {};  ///< by node; empty: there is one branch
  /// By node: for one of the main branch, the last node of the side branch that must have ended
  /// before it begins; else kNobody.
  std::vector<std::size_t> awaited = {};

  bool is_side(std::size_t node) const { return !side.empty() && side[node]; }
  std::size_t awaited_by(std::size_t node) const {
    return awaited.empty() ? kNobody : awaited[node];
  }
  /// Returns the first node of the main branch that begins after `node` of the side branch has
  /// ended; the number of nodes where only the step's end does.
  std::size_t end_of(std::size_t node) const;
};

/// Nodes of the side branch that may be unfinished when a node of the main branch begins: each of
/// them keeps its operands' memory.
inline constexpr std::size_t kSideNodes = 3;

/// Returns what may run beside the rest: nodes that read the arena and write gradients alone (of
/// weights and biases), or what copy_all copies there, since only the step's finish reads these.
/// The main branch waits for them where it touches memory that they write, or writes what they
/// read, outside the arena; where kSideNodes others have begun since; and at the last node.
Branches find_branches(const Graph& graph);

}  // namespace linnet
