// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace linnet {

/// A node as a backend prepares its kernel: the operator and the types of its operands.
struct NodeView {
  const Op& op;
  std::span<const ValueType> inputs;
  std::span<const ValueType> outputs;
  /// Whether anything reads output i; a kernel may leave a dead output unwritten.
  std::vector<bool> output_read;
  /// Whether operand i is a weight that stays as it is from run to run, until the program is told
  /// (PlanOptions::fixed_weights); empty: none is.
  std::vector<bool> input_fixed = {};
  /// Whether no other node reads operand i, so that a kernel which knows what else lies in its
  /// memory may change that (PlanOptions::room); empty: others may.
  std::vector<bool> input_alone = {};

  const Shape& in(std::size_t i) const { return inputs[i].shape; }
  const Shape& out(std::size_t i) const { return outputs[i].shape; }
  bool fixed(std::size_t i) const { return i < input_fixed.size() && input_fixed[i]; }
  bool alone(std::size_t i) const { return i < input_alone.size() && input_alone[i]; }
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

/// NodeView::input_fixed of a graph's node, where none of the graph writes weights.
inline std::vector<bool> inputs_fixed(const Graph& graph, const Node& node) {
  std::vector<bool> fixed;
  for (Value v : node.inputs) {
    const Storage storage = graph.info(v).storage;
    fixed.push_back(storage == Storage::parameter || storage == Storage::state);
  }
  return fixed;
}

/// NodeView::input_alone of a graph's node.
inline std::vector<bool> inputs_alone(const Graph& graph, const Node& node) {
  std::vector<bool> alone;
  for (Value v : node.inputs) {
    alone.push_back(graph.uses(v) == 1 && graph.info(v).storage == Storage::arena);
  }
  return alone;
}

/// Returns whether any node writes weights or running statistics, as in training. Those are f32;
/// what counts, in evaluations too, is f64.
inline bool writes_weights(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    const std::vector<bool> weights = inputs_fixed(graph, node);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const bool counts = graph.type(node.inputs[i]).dtype == DType::f64;
      if (weights[i] && !counts && node.op->mutates(i)) return true;
    }
  }
  return false;
}

}  // namespace linnet
