// SPDX-License-Identifier: Apache-2.0
#include "ops/bias_add/bias_add.h"
#include "ops/conv2d/conv2d.h"
#include "ops/dense/dense.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

/// Lets node n, a bias_add or an activation, take the O that feeds it into itself.
template <class O>
void absorb(Graph& graph, std::size_t n, const Supports& supports) {
  const Node& node = graph.nodes()[n];
  if (node.inputs.empty()) return;
  const Node* product = sole_producer<O>(graph, node.inputs.front());
  if (product == nullptr) return;
  auto attrs = op_as<O>(product)->attrs();
  std::vector<Value> inputs = product->inputs;
  if (op_as<BiasAddOp>(&node) != nullptr) {
    if (attrs.bias || attrs.activation != Activation::none) return;
    attrs.bias = true;
    inputs.push_back(node.inputs[BiasAddOp::In::b]);
  } else if (const auto* activation = op_as<ActivationOp>(&node)) {
    // The gradient of the fused operator has the output alone.
    if (attrs.activation != Activation::none || !slope_from_output(activation->attrs().kind))
      return;
    attrs.activation = activation->attrs().kind;
  } else {
    return;
  }
  auto fused = std::make_shared<O>(attrs);
  if (!supports(*fused, graph.types(inputs), graph.types(node.outputs))) return;
  const std::vector<Value> outputs = node.outputs;
  graph.rewrite(n, std::move(fused), std::move(inputs), outputs);
}

/// conv2d or dense -> bias_add -> activation becomes one operator.
void fuse_epilogue(Graph& graph, const Supports& supports) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    absorb<Conv2dOp>(graph, n, supports);
    absorb<DenseOp>(graph, n, supports);
  }
  remove_dead(graph, supports);
}

}  // namespace

void register_epilogue_pass(Passes& passes) {
  passes.add(Phase::forward, {"fuse_epilogue", fuse_epilogue});
}

}  // namespace linnet
