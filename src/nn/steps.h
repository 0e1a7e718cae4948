// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "graph/graph.h"

namespace linnet {

/// Says what an operator does with the steps, axis 1, of an operand that is sequences of different
/// length (N, T, ...).
struct StepsRule {
  /// Whether it works on each step alone, so that its first output has the operand's steps along
  /// axis 1, and their lengths.
  bool kept = false;
  bool unread = false;            ///< it reads nothing but the number of samples
  std::string_view padding = {};  ///< else what it would do with padding,
  std::string_view instead = {};  ///< and what knows lengths
};

/// Returns the rule for operand `operand` of a node: the one place that says which operators keep
/// steps. Layers that read lengths themselves don't ask (NetworkBuilder::heed_lengths()).
StepsRule steps_rule(const Graph& graph, const Node& node, std::size_t operand);

/// Rule of layers that combine neighbouring steps: convolutions and pooling.
extern const StepsRule kReadsNeighbours;

/// Throws the Error of a layer or operator that would not keep the steps.
[[noreturn]] void fail_on_lengths(std::string_view kind, std::string_view layer,
                                  const StepsRule& rule);

}  // namespace linnet
