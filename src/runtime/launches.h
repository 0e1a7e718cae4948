// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace linnet {

/// Describes one thing that a step puts on a GPU's stream: a node of the captured graph.
struct PlannedLaunch {
  std::string name;          ///< of the kernel or of the library's engine
  std::string library = {};  ///< "cudnn" or "cublaslt"; empty: Linnet's own kernel
};

/// What a whole step puts there.
struct StepLaunches {
  std::vector<std::vector<PlannedLaunch>> nodes = {};  ///< by node index of the plan, in order
  std::vector<PlannedLaunch> ending = {};              ///< after the step's nodes

  std::size_t count() const {
    std::size_t all = ending.size();
    for (const std::vector<PlannedLaunch>& node : nodes) all += node.size();
    return all;
  }
};

}  // namespace linnet
