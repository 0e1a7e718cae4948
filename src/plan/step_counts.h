// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

#include "plan/plan.h"

namespace linnet {

/// Describes what a GPU does in a second, for predictions alone.
struct GpuSpeed {
  double bytes = 0;  ///< that it reads and writes
  double fp32 = 0;   ///< FLOP without tensor cores
  double tf32 = 0;   ///< FLOP of products on tensor cores
  double bf16 = 0;
  double node_seconds = 0;  ///< what a node of a graph costs by itself
};

/// Describes nodes of which each waits for the one before.
struct NodePath {
  std::size_t nodes = 0;
  double seconds = 0;  ///< predicted
};

/// Describes one step of a plan for a GPU: counts, and the time that they are predicted to take.
struct StepCounts {
  std::size_t operators = 0;                              ///< that run
  std::size_t own_kernels = 0;                            ///< nodes that are Linnet's own kernels
  std::map<std::string, std::size_t> library_calls = {};  ///< by library; each counts as one node
  double bytes = 0;  ///< least that its operators read and write
  double flops = 0;
  std::size_t planned_bytes = 0;  ///< of memory, without libraries' workspaces
  NodePath captured = {};         ///< the longest as it is captured, with its branches
  NodePath data = {};             ///< the longest by data alone, which more branches could reach
  double work_seconds = 0;        ///< of all operators, without what a node costs by itself

  /// Returns the nodes of the captured graph of the step.
  std::size_t nodes() const { return own_kernels + calls(); }
  std::size_t calls() const {
    std::size_t all = 0;
    for (const auto& [library, count] : library_calls) all += count;
    return all;
  }
  /// Returns the predicted time of the step. Branches hide what nodes cost by themselves; the work
  /// of two shares the device's memory and arithmetic.
  double seconds() const { return std::max(captured.seconds, work_seconds); }
};

/// Counts a plan whose backend has filled in Plan::launches. An operator takes the longer of the
/// times for its bytes and for its FLOP, and node_seconds for each of its nodes.
StepCounts count_step(const Plan& plan, const GpuSpeed& speed);

}  // namespace linnet
