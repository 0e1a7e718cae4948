// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/arithmetic/arithmetic.h"
#include "ops/augment/augment.h"
#include "ops/channel_scale/channel_scale.h"
#include "ops/gather_batch/gather_batch.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {

namespace {

/// y = scale x + shift by channel, from either operator; empty where the node is neither.
ChannelScaleAttrs factors_of(const Node& node) {
  if (const auto* scale = op_as<ScaleOp>(&node)) {
    return {.scale = {scale->attrs().alpha}, .shift = {scale->attrs().beta}};
  }
  if (const auto* scale = op_as<ChannelScaleOp>(&node)) return scale->attrs();
  return {.scale = {}, .shift = {}};
}

/// augment -> scale or channel_scale becomes one augment.
void fuse_augment_scale(Graph& graph, std::size_t n) {
  const Node& node = graph.nodes()[n];
  const ChannelScaleAttrs factors = factors_of(node);
  if (factors.scale.empty()) return;
  const Node* augment = sole_producer<AugmentOp>(graph, node.inputs.front());
  if (augment == nullptr) return;
  AugmentAttrs attrs = op_as<AugmentOp>(augment)->attrs();
  const auto at = [](const std::vector<double>& v, std::size_t c) {
    return v[v.size() == 1 ? 0 : c];
  };
  const std::size_t channels = std::max(attrs.scale.size(), factors.scale.size());
  std::vector<double> scale;
  std::vector<double> shift;
  for (std::size_t c = 0; c < channels; ++c) {
    scale.push_back(at(attrs.scale, c) * at(factors.scale, c));
    shift.push_back(at(attrs.shift, c) * at(factors.scale, c) + at(factors.shift, c));
  }
  attrs.scale = std::move(scale);
  attrs.shift = std::move(shift);
  const std::vector<Value> inputs = augment->inputs;
  const std::vector<Value> outputs = node.outputs;
  graph.rewrite(n, std::make_shared<AugmentOp>(attrs), inputs, outputs);
}

/// gather_batch -> scale becomes one gather; augment -> scale or channel_scale one augment.
void fuse_gather_scale(Graph& graph, const Supports& /*supports*/) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) fuse_augment_scale(graph, n);
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const auto* scale = op_as<ScaleOp>(&node);
    if (scale == nullptr) continue;
    const Node* gather = sole_producer<GatherBatchOp>(graph, node.inputs[ScaleOp::In::x]);
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

}  // namespace

void register_gather_scale_pass(Passes& passes) {
  passes.add(Phase::forward, {"fuse_gather_scale", fuse_gather_scale});
}

}  // namespace linnet
