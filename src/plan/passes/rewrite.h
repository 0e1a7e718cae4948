// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plan/passes/passes.h"

namespace linnet {

/// Returns whether a backend has the operator for these operands.
bool supported(const Graph& graph, const Op& op, const std::vector<Value>& operands,
               const Supports& supports);

/// Adds a value that a node is about to write instead of `old`, with its type, storage and readers.
Value written_instead(Graph& graph, Value old, const std::string& name);

/// Erases the marked nodes. Returns how many of the first `count` nodes are left.
std::size_t erase_marked(Graph& graph, const std::vector<bool>& marked, std::size_t count);

}  // namespace linnet
