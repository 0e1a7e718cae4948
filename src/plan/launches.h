// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace linnet {

/// Describes one thing that a step puts on a GPU's stream: a node of the captured graph.
struct PlannedLaunch {
  std::string name;          ///< of the kernel or of the library's engine
  std::string library = {};  ///< "cudnn" or "cublaslt"; empty: Linnet's own kernel
};

}  // namespace linnet
