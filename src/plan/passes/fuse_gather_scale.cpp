// SPDX-License-Identifier: Apache-2.0
#include "ops/arithmetic/arithmetic.h"
#include "ops/gather_batch/gather_batch.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {

void fuse_gather_scale(Graph& graph, const Supports& /*supports*/) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const auto* scale = op_as<ScaleOp>(&node);
    if (scale == nullptr) continue;
    const Node* gather = sole_producer<GatherBatchOp>(graph, node.inputs[0]);
    if (gather == nullptr) continue;
    GatherBatchAttrs attrs = op_as<GatherBatchOp>(gather)->attrs();
    attrs.shift = attrs.shift * scale->attrs().alpha + scale->attrs().beta;
    attrs.scale *= scale->attrs().alpha;
    const std::vector<Value> inputs = gather->inputs;
    const std::vector<Value> outputs = node.outputs;
    graph.rewrite(n, std::make_shared<GatherBatchOp>(attrs), inputs, outputs);
  }
  remove_dead(graph, {});
}

}  // namespace linnet
