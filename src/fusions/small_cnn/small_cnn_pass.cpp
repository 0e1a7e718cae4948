// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "fusions/small_cnn/small_cnn.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/dense/dense.h"
#include "ops/finite_check/finite_check.h"
#include "ops/metrics/metrics.h"
#include "ops/reshape/reshape.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

/// Returns whether `value` stays in the arena and nothing but node `loss`, and metrics after it,
/// read it.
bool read_by_metrics_alone(const Graph& graph, Value value, std::size_t loss) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (n == loss || std::count(node.inputs.begin(), node.inputs.end(), value) == 0) continue;
    if (n < loss || op_as<MetricsOp>(&node) == nullptr) return false;
  }
  return graph.info(value).storage == Storage::arena;
}

struct Match {
  SmallCnnAttrs attrs;
  std::vector<Value> operands;
  Value scores;  ///< what metrics read: the logits or the probabilities
};

/// Returns the network in front of the loss, node n.
std::optional<Match> match(const Graph& graph, std::size_t n) {
  using Loss = SoftmaxCrossEntropyOp;
  const Node& loss = graph.nodes()[n];
  const Value logits = loss.inputs[Loss::In::logits];
  const Value labels = loss.inputs[Loss::In::labels];
  const Value probabilities = loss.outputs[Loss::Out::probabilities];
  const Node* dense = graph.producer(logits);
  const Node* targets = graph.producer(labels);
  if (op_as<DenseOp>(dense) == nullptr || op_as<GatherBatchOp>(targets) == nullptr ||
      op_as<DenseOp>(dense)->attrs() != DenseAttrs{.bias = true}) {
    return std::nullopt;
  }
  for (Value value : {logits, labels, probabilities}) {
    if (!read_by_metrics_alone(graph, value, n)) return std::nullopt;
  }
  // The operator hands out one kind of scores.
  const bool from_logits = graph.uses(probabilities) == 0;
  if (!from_logits && graph.uses(logits) > 1) return std::nullopt;
  const Node* flatten = sole_producer<ReshapeOp>(graph, dense->inputs[DenseOp::In::x]);
  if (flatten == nullptr) return std::nullopt;
  const Node* conv = sole_producer<Conv2dPoolOp>(graph, flatten->inputs[ReshapeOp::In::x]);
  if (conv == nullptr || !op_as<Conv2dPoolOp>(conv)->attrs().conv.bias) return std::nullopt;
  const Value winner = conv->outputs[Conv2dPoolOp::Out::winner];
  const Node* samples = sole_producer<GatherBatchOp>(graph, conv->inputs[Conv2dPoolOp::In::x]);
  if (samples == nullptr || graph.uses(winner) > 0 ||
      graph.info(winner).storage != Storage::arena) {
    return std::nullopt;
  }
  const GatherBatchAttrs gather = op_as<GatherBatchOp>(samples)->attrs();
  if (op_as<GatherBatchOp>(targets)->attrs() !=
      GatherBatchAttrs{.batch = gather.batch, .shuffle = gather.shuffle}) {
    return std::nullopt;
  }
  return Match{.attrs = {.gather = gather,
                         .conv_pool = op_as<Conv2dPoolOp>(conv)->attrs(),
                         .probabilities = !from_logits},
               .operands = {samples->inputs[GatherBatchOp::In::data],
                            targets->inputs[GatherBatchOp::In::data],
                            conv->inputs[Conv2dPoolOp::In::w], conv->inputs[Conv2dPoolOp::In::b],
                            dense->inputs[DenseOp::In::w], dense->inputs[DenseOp::In::b]},
               .scores = from_logits ? logits : probabilities};
}

/// Returns whether the nodes' outputs of gradients are `writer`'s alone.
bool writes_all_gradients(const Graph& graph, std::size_t writer) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    for (Value output : graph.nodes()[n].outputs) {
      if (n != writer && graph.info(output).storage == Storage::gradient) return false;
    }
  }
  return true;
}

/// gather_batch -> conv2d_pool -> flatten -> dense -> softmax_cross_entropy becomes small_cnn, with
/// all gradients, where the backend wants it and nothing but metrics reads what is between.
void fuse(Graph& graph, const Supports& supports) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node node = graph.nodes()[n];
    if (op_as<SoftmaxCrossEntropyOp>(&node) == nullptr) continue;
    std::optional<Match> found = match(graph, n);
    if (!found) continue;
    auto fused = std::make_shared<SmallCnnOp>(found->attrs);
    const std::vector<ValueType> types = graph.types(found->operands);
    const std::vector<ValueType> results = fused->infer(types);
    if (!supports(*fused, types, results)) continue;
    std::vector<Value> outputs{node.outputs[SoftmaxCrossEntropyOp::Out::loss]};
    for (std::size_t i = 1; i < results.size(); ++i) {
      outputs.push_back(graph.add_output(node.name, results[i]));
    }
    graph.rewrite(n, std::move(fused), std::move(found->operands), outputs);
    graph.replace_uses(found->scores, outputs[SmallCnnOp::Out::scores]);
    graph.replace_uses(node.inputs[SoftmaxCrossEntropyOp::In::labels],
                       outputs[SmallCnnOp::Out::labels]);
  }
  remove_dead(graph, supports);
}

/// small_cnn -> metrics, finite_check becomes one small_cnn where it computes all gradients of the
/// step and the backend has that.
void fuse_finish(Graph& graph, const Supports& supports) {
  const std::vector<Node>& nodes = graph.nodes();
  const auto find = [&](auto is) {
    return static_cast<std::size_t>(std::ranges::find_if(nodes, is) - nodes.begin());
  };
  const std::size_t n = find([](const Node& node) { return op_as<SmallCnnOp>(&node) != nullptr; });
  if (n == nodes.size() || !writes_all_gradients(graph, n)) return;
  const Node node = nodes[n];
  const Value loss = node.outputs[SmallCnnOp::Out::loss];
  const std::size_t metrics = find([&](const Node& other) {
    return op_as<MetricsOp>(&other) != nullptr &&
           other.inputs.size() == MetricsOp::In::labels + 1 &&
           other.inputs[MetricsOp::In::loss] == loss &&
           other.inputs[MetricsOp::In::scores] == node.outputs[SmallCnnOp::Out::scores] &&
           other.inputs[MetricsOp::In::labels] == node.outputs[SmallCnnOp::Out::labels];
  });
  const std::size_t check = find([&](const Node& other) {
    return op_as<FiniteCheckOp>(&other) != nullptr &&
           other.inputs.size() == FiniteCheckOp::In::loss + 1 &&
           other.inputs[FiniteCheckOp::In::loss] == loss;
  });
  if (metrics == nodes.size() || check == nodes.size()) return;
  SmallCnnAttrs attrs = op_as<SmallCnnOp>(&node)->attrs();
  const MetricsAttrs counted = op_as<MetricsOp>(&nodes[metrics])->attrs();
  attrs.finish = true;
  attrs.history = counted.history;
  if (counted != MetricsAttrs{.batch = attrs.gather.batch, .history = attrs.history}) return;
  auto fused = std::make_shared<SmallCnnOp>(attrs);
  std::vector<Value> operands = node.inputs;
  operands.push_back(nodes[metrics].inputs[MetricsOp::In::counters]);
  operands.push_back(nodes[check].inputs[FiniteCheckOp::In::stopped]);
  if (!supports(*fused, graph.types(operands), graph.types(node.outputs))) return;
  graph.rewrite(n, std::move(fused), std::move(operands), node.outputs);
  graph.erase_nodes([&](std::size_t i) { return i == metrics || i == check; });
}

}  // namespace

void register_small_cnn_pass(Passes& passes) {
  passes.add(Phase::forward,
             {"fuse_small_cnn",
              fuse,
              {.after = {"fuse_gather_scale", "fuse_softmax_cross_entropy", "fuse_conv2d_pool"}}});
  passes.add(Phase::final, {"fuse_small_cnn_finish", fuse_finish, {.after = {"remove_dead"}}});
}

}  // namespace linnet
