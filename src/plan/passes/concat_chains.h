// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "plan/passes/passes.h"

namespace linnet {

/// Concatenations of channels of which each begins with the result of the one before, as in a
/// block of a DenseNet.
struct ConcatChain {
  std::vector<std::size_t> nodes;
  std::int64_t channels = 0;  ///< of the last one's result
  Value shared = {};          ///< what holds all of them, while a pass writes it
};

/// Returns whether an operator finds an operand in the first channels of a wider one.
bool reads_first_channels(const Op& op, std::size_t operand);

/// Returns the chains of at least two concatenations among the nodes before `backward` whose
/// results, but for the last ones, are read by such operators alone; none where the backend has no
/// kernel for such a buffer.
std::vector<ConcatChain> concat_chains(const Graph& graph, std::size_t backward,
                                       const Supports& supports);

}  // namespace linnet
