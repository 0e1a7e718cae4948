// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace linnet {

/// What a backend prepares a kernel from: a node's operator and the types of its operands.
struct NodeView {
  const Op& op;
  std::span<const ValueType> inputs;
  std::span<const ValueType> outputs;
  /// Whether anything reads output i; a kernel may leave a dead output unwritten.
  std::vector<bool> output_read;

  const Shape& in(std::size_t i) const { return inputs[i].shape; }
  const Shape& out(std::size_t i) const { return outputs[i].shape; }
  template <class O>
  const auto& attrs() const {
    return static_cast<const O&>(op).attrs();
  }
};

/// NodeView::output_read of a graph's node.
inline std::vector<bool> outputs_read(const Graph& graph, const Node& node) {
  std::vector<bool> read;
  for (Value v : node.outputs) {
    read.push_back(graph.uses(v) > 0 || graph.info(v).storage != Storage::arena);
  }
  return read;
}

}  // namespace linnet
