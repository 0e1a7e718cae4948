// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/node_view.h"

namespace linnet {

/// One of several ways to compute a node: a library's, or a kernel of Linnet's own.
template <class Kernel>
struct Candidate {
  std::string_view engine;                         ///< one word
  std::function<std::optional<Kernel>()> prepare;  ///< null where it does not take the node
};

/// Returns the kernel of the first candidate that takes the node. Candidates stand in the order of
/// a fixed rule that knows the node alone; only a measurement that the user asked for (cpu::Tuner)
/// chooses otherwise.
template <class Kernel>
std::optional<Kernel> first_candidate(const NodeView& /*node*/,
                                      const std::vector<Candidate<Kernel>>& candidates) {
  for (const Candidate<Kernel>& candidate : candidates) {
    if (std::optional<Kernel> kernel = candidate.prepare()) return kernel;
  }
  return std::nullopt;
}

}  // namespace linnet
