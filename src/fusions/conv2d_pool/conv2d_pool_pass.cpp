// SPDX-License-Identifier: Apache-2.0
#include "fusions/conv2d_pool/conv2d_pool.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {

namespace {

/// conv2d -> max_pool2d becomes conv2d_pool where the backend has it.
void fuse_conv2d_pool(Graph& graph, const Supports& supports) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const auto* pool = op_as<MaxPool2dOp>(&node);
    if (pool == nullptr) continue;
    const Node* conv = sole_producer<Conv2dOp>(graph, node.inputs[MaxPool2dOp::In::x]);
    if (conv == nullptr) continue;
    auto fused = std::make_shared<Conv2dPoolOp>(
        Conv2dPoolAttrs{op_as<Conv2dOp>(conv)->attrs(), pool->attrs()});
    const std::vector<Value> inputs = conv->inputs;
    const std::vector<Value> outputs = node.outputs;
    if (!supports(*fused, graph.types(inputs), graph.types(outputs))) continue;
    graph.rewrite(n, std::move(fused), inputs, outputs);
  }
  remove_dead(graph, supports);
}

}  // namespace

void register_conv2d_pool_pass(Passes& passes) {
  passes.add(Phase::forward, {"fuse_conv2d_pool", fuse_conv2d_pool, {.after = {"fuse_epilogue"}}});
}

}  // namespace linnet
