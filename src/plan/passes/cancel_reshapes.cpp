// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/cancel_reshapes.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "ops/activation/activation.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/bias_add/bias_add.h"
#include "ops/reshape/reshape.h"
#include "ops/unary/unary.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

/// Returns whether a node computes the same of its first operand under another shape with as long
/// a last axis.
bool keeps_channels(const Graph& graph, const Node& node) {
  if (op_as<ActivationOp>(&node) != nullptr || op_as<UnaryOp>(&node) != nullptr ||
      op_as<BiasAddOp>(&node) != nullptr) {
    return true;
  }
  BatchNormAttrs norm{.residual = true};
  if (const auto* op = op_as<BatchNormOp>(&node)) norm = op->attrs();
  if (const auto* op = op_as<BatchNormInferenceOp>(&node)) norm = op->attrs();
  return !norm.residual &&
         graph.shape(node.inputs.front())[-1] == graph.shape(node.outputs.front())[-1];
}

/// Nodes between two reshapes, one after the other.
struct Between {
  std::vector<std::size_t> nodes;
  Value end;  ///< the last reshape's result
};

/// Finds what follows the reshape `begin` up to one that undoes it.
std::optional<Between> find_between(const Graph& graph, std::size_t begin) {
  const ValueType& type = graph.type(graph.nodes()[begin].inputs.front());
  Between between;
  Value v = graph.nodes()[begin].outputs.front();
  for (std::size_t n = begin + 1; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (std::ranges::count(node.inputs, v) == 0) continue;
    if (node.inputs.front() != v || graph.info(v).storage != Storage::arena || graph.uses(v) != 1) {
      return std::nullopt;
    }
    v = node.outputs.front();
    if (op_as<ReshapeOp>(&node) != nullptr) {
      between.end = v;
      const bool undone = graph.type(v) == type && graph.info(v).storage == Storage::arena;
      return undone ? std::optional(between) : std::nullopt;
    }
    if (type.shape.rank() == 0 || graph.shape(v).rank() == 0 ||
        type.shape[-1] != graph.shape(v)[-1] || !keeps_channels(graph, node)) {
      return std::nullopt;
    }
    between.nodes.push_back(n);
  }
  return std::nullopt;
}

}  // namespace

void cancel_reshapes(Graph& graph, const Supports& /*supports*/) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    if (op_as<ReshapeOp>(&graph.nodes()[n]) == nullptr) continue;
    Value v = graph.nodes()[n].inputs.front();
    if (graph.info(v).storage != Storage::arena) continue;
    const std::optional<Between> between = find_between(graph, n);
    if (!between) continue;
    const ValueType type = graph.type(v);
    for (const std::size_t i : between->nodes) {
      const Node node = graph.nodes()[i];
      std::vector<Value> inputs = node.inputs;
      std::vector<Value> outputs = node.outputs;
      inputs.front() = v;
      v = graph.add_output(graph.info(outputs.front()).name, type);
      outputs.front() = v;
      graph.rewrite(i, node.op, std::move(inputs), std::move(outputs));
    }
    graph.replace_uses(between->end, v);
  }
  remove_dead(graph, {});
}

}  // namespace linnet
