// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "ops/arithmetic/arithmetic.h"
#include "ops/batch_norm/batch_norm.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

/// Returns whether something reads the batch's statistics, which must then be made where they are.
bool statistics_read(const Graph& graph, const Node& norm) {
  for (std::size_t i = BatchNormOp::Out::mean; i < norm.outputs.size(); ++i) {
    const Value v = norm.outputs[i];
    if (graph.uses(v) > 0 || graph.info(v).storage != Storage::arena) return true;
  }
  return false;
}

/// Returns whether a node between `norm` and node n updates the same running statistics, as of a
/// block that is applied twice: they must follow the applications in order.
bool statistics_updated(const Graph& graph, const Node& norm, std::size_t n) {
  const Value mean = norm.inputs[BatchNormOp::In::running_mean];
  for (const Node* node = &norm + 1; node != &graph.nodes()[n]; ++node) {
    if (std::ranges::count(node->inputs, mean) > 0) return true;
  }
  return false;
}

/// Lets node n, an addition or a relu, take the O (a batch norm) that feeds its operand `side` into
/// itself, and drops that. False where it can't.
template <class O>
bool absorb(Graph& graph, std::size_t n, std::size_t side, const Supports& supports) {
  const Node& node = graph.nodes()[n];
  if (node.inputs.size() <= side) return false;
  const Node* norm = sole_producer<O>(graph, node.inputs[side]);
  if (norm == nullptr || statistics_read(graph, *norm)) return false;
  if (std::is_same_v<O, BatchNormOp> && statistics_updated(graph, *norm, n)) return false;
  BatchNormAttrs attrs = op_as<O>(norm)->attrs();
  if (attrs.activation != Activation::none) return false;
  std::vector<Value> inputs = norm->inputs;
  if (const auto* sum = op_as<ArithmeticOp>(&node)) {
    const Value other = node.inputs[1 - side];
    if (sum->attrs().kind != Arithmetic::add || attrs.residual ||
        graph.type(other) != graph.type(node.inputs[side])) {
      return false;
    }
    attrs.residual = true;
    inputs.push_back(other);
  } else if (const auto* activation = op_as<ActivationOp>(&node)) {
    if (activation->attrs().kind != Activation::relu) return false;
    attrs.activation = Activation::relu;
  } else {
    return false;
  }
  std::vector<Value> outputs = norm->outputs;
  outputs[O::Out::y] = node.outputs.front();
  auto fused = std::make_shared<O>(attrs);
  if (!supports(*fused, graph.types(inputs), graph.types(outputs))) return false;
  // It writes the running statistics, so that it would never count as dead.
  const auto old = static_cast<std::size_t>(norm - graph.nodes().data());
  graph.rewrite(n, std::move(fused), std::move(inputs), std::move(outputs));
  graph.erase_nodes([&](std::size_t i) { return i == old; });
  return true;
}

bool absorb_any(Graph& graph, std::size_t n, const Supports& supports) {
  for (std::size_t side : {kFirst, kSecond}) {
    if (absorb<BatchNormOp>(graph, n, side, supports) ||
        absorb<BatchNormInferenceOp>(graph, n, side, supports)) {
      return true;
    }
  }
  return false;
}

/// batch_norm -> [add] -> [relu] becomes one batch norm.
void fuse_batch_norm(Graph& graph, const Supports& supports) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    if (absorb_any(graph, n, supports)) --n;  // the nodes after have moved up by one
  }
}

}  // namespace

void register_batch_norm_relu_pass(Passes& passes) {
  passes.add(Phase::forward, {"fuse_batch_norm", fuse_batch_norm});
}

}  // namespace linnet
