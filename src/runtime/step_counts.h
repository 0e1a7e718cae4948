// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "plan/plan.h"
#include "runtime/launches.h"

namespace linnet {

/// Describes one step of a plan for a GPU.
struct StepCounts {
  std::size_t operators = 0;                              ///< that run
  std::size_t own_kernels = 0;                            ///< nodes that are Linnet's own kernels
  std::map<std::string, std::size_t> library_calls = {};  ///< by library; each counts as one node
  double bytes = 0;  ///< least that its operators read and write
  double flops = 0;
  std::size_t planned_bytes = 0;  ///< of memory, without libraries' workspaces
  /// Nodes of the longest path, of which each waits for the one before: as it is captured, with its
  /// branches.
  std::size_t captured = 0;
  std::size_t data = 0;  ///< likewise by data alone, which more branches could reach

  /// Returns the nodes of the captured graph of the step.
  std::size_t nodes() const { return own_kernels + calls(); }
  std::size_t calls() const {
    std::size_t all = 0;
    for (const auto& [library, count] : library_calls) all += count;
    return all;
  }
};

/// Counts a plan and what its steps launch (Program::launches()).
StepCounts count_step(const Plan& plan, const StepLaunches& launches);

}  // namespace linnet
