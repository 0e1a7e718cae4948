// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fusions/bias_activation_grad/bias_activation_grad.h"
#include "ops/bias_add/bias_add.h"
#include "ops/dense/dense.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"
#include "plan/passes/rewrite.h"

namespace linnet {

namespace {

/// activation_grad -> bias_grad becomes one operator where the backend has it; before it, the
/// product that a dense layer of one unit hands back, an outer product, becomes part of it.
void fuse_bias_grad(TrainingGraph& training, const Supports& supports) {
  Graph& graph = training.graph;
  std::vector<bool> fused(graph.nodes().size());
  for (std::size_t n = training.backward; n < graph.nodes().size(); ++n) {
    const Node& bias = graph.nodes()[n];
    if (op_as<BiasGradOp>(&bias) == nullptr) continue;
    const Value dz = bias.inputs[BiasGradOp::In::dy];
    const Node* activation = graph.producer(dz);
    if (op_as<ActivationGradOp>(activation) == nullptr) continue;
    BiasActivationGradAttrs attrs{.kind = op_as<ActivationGradOp>(activation)->attrs().kind};
    std::vector<Value> operands = activation->inputs;
    const Node* product = sole_producer<DenseGradInputOp>(graph, operands[0]);
    if (product != nullptr && graph.shape(product->inputs[DenseGradInputOp::In::w])[0] == 1) {
      attrs.outer = true;
      operands[0] = product->inputs[DenseGradInputOp::In::dz];
      operands.push_back(product->inputs[DenseGradInputOp::In::w]);
    }
    auto op = std::make_shared<BiasActivationGradOp>(attrs);
    if (!supported(graph, *op, operands, supports)) continue;
    const Value db = bias.outputs[BiasGradOp::Out::db];
    const auto place = static_cast<std::size_t>(graph.info(dz).producer);
    const Value sum = written_instead(graph, db, bias.name);
    graph.rewrite(place, std::move(op), std::move(operands), {dz, sum});
    fused[n] = true;
  }
  if (std::ranges::count(fused, true) == 0) return;
  graph.erase_nodes([&](std::size_t n) { return fused[n]; });
  remove_dead(graph, supports);
}

}  // namespace

void register_bias_activation_grad_pass(Passes& passes) {
  passes.add({"fuse_bias_grad", fuse_bias_grad, {.last = true}});
}

}  // namespace linnet
