// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "log/event_file.h"
#include "nn/definition.h"

namespace linnet {

/// Returns the operators, inputs and weights of a network, as TensorBoard draws them: those of a
/// layer together, in a custom layer inside of it.
std::vector<GraphNode> network_graph(const NetworkDefinition& network);

}  // namespace linnet
