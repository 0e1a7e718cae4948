// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace linnet {

/// Says what products are computed in; a GPU's speed depends on it.
enum class LaunchMath : std::uint8_t { fp32, tf32, bf16 };

/// Describes one thing that a step puts on a GPU's stream: a node of the captured graph.
struct PlannedLaunch {
  std::string name;          ///< of the kernel or of the library's engine
  std::string library = {};  ///< "cudnn" or "cublaslt"; empty: Linnet's own kernel
  LaunchMath math = LaunchMath::fp32;
};

}  // namespace linnet
