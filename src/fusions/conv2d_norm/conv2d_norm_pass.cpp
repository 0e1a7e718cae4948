// SPDX-License-Identifier: Apache-2.0
#include "fusions/conv2d_norm/conv2d_norm.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {

namespace {

/// At inference, conv2d -> batch norm becomes conv2d_norm where the backend has it.
void fold_batch_norm(Graph& graph, const Supports& supports) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const auto* norm = op_as<BatchNormInferenceOp>(&node);
    if (norm == nullptr) continue;
    const Node* conv = sole_producer<Conv2dOp>(graph, node.inputs[BatchNormInferenceOp::In::x]);
    if (conv == nullptr) continue;
    const Conv2dNormAttrs attrs{op_as<Conv2dOp>(conv)->attrs(), norm->attrs()};
    if (attrs.conv.activation != Activation::none) continue;
    auto folded = std::make_shared<Conv2dNormOp>(attrs);
    std::vector<Value> inputs = conv->inputs;
    inputs.insert(inputs.end(), node.inputs.begin() + BatchNormInferenceOp::In::gamma,
                  node.inputs.end());
    const std::vector<Value> outputs = node.outputs;
    if (!supports(*folded, graph.types(inputs), graph.types(outputs))) continue;
    graph.rewrite(n, std::move(folded), std::move(inputs), outputs);
  }
  remove_dead(graph, supports);
}

}  // namespace

void register_conv2d_norm_pass(Passes& passes) {
  passes.add(Phase::forward, {"fold_batch_norm",
                              fold_batch_norm,
                              {.after = {"fuse_epilogue", "fuse_batch_norm"}},
                              /*differentiable=*/false});
}

}  // namespace linnet
