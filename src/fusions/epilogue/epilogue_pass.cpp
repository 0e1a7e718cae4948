// SPDX-License-Identifier: Apache-2.0
#include "ops/bias_add/bias_add.h"
#include "ops/conv2d/conv2d.h"
#include "ops/dense/dense.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

bool any(Activation /*kind*/) { return true; }

/// Lets node n, a bias_add or an activation that `takes`, take the O that feeds it into itself.
template <class O>
void absorb(Graph& graph, std::size_t n, const Supports& supports, bool (*takes)(Activation)) {
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
    if (attrs.activation != Activation::none || !takes(activation->attrs().kind)) return;
    attrs.activation = activation->attrs().kind;
  } else {
    return;
  }
  auto fused = std::make_shared<O>(attrs);
  if (!supports(*fused, graph.types(inputs), graph.types(node.outputs))) return;
  const std::vector<Value> outputs = node.outputs;
  graph.rewrite(n, std::move(fused), std::move(inputs), outputs);
}

void fuse(Graph& graph, const Supports& supports, bool (*takes)(Activation)) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    absorb<Conv2dOp>(graph, n, supports, takes);
    absorb<DenseOp>(graph, n, supports, takes);
  }
  remove_dead(graph, supports);
}

/// conv2d or dense -> bias_add -> activation becomes one operator, whose gradient has the output
/// alone.
void fuse_before_gradients(Graph& graph, const Supports& supports) {
  fuse(graph, supports, slope_from_output);
}

/// The same with every activation.
void fuse_at_inference(Graph& graph, const Supports& supports) { fuse(graph, supports, any); }

}  // namespace

void register_epilogue_pass(Passes& passes) {
  passes.add(Phase::forward, {"fuse_epilogue", fuse_before_gradients});
  passes.add(Phase::inference, {"fuse_epilogue", fuse_at_inference});
}

}  // namespace linnet
