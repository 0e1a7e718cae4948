// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/cross_entropy/cross_entropy.h"
#include "ops/softmax/softmax.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

bool read_before(const Graph& graph, Value value, std::size_t node) {
  for (std::size_t n = 0; n < node; ++n) {
    const std::vector<Value>& inputs = graph.nodes()[n].inputs;
    if (std::find(inputs.begin(), inputs.end(), value) != inputs.end()) return true;
  }
  return graph.info(value).storage != Storage::arena;
}

/// softmax or log_softmax -> cross_entropy becomes softmax_cross_entropy.
void fuse_softmax_cross_entropy(Graph& graph, const Supports& /*supports*/) {
  using In = CrossEntropyOp::In;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node node = graph.nodes()[n];
    const auto* loss = op_as<CrossEntropyOp>(&node);
    if (loss == nullptr) continue;
    const Node* scores = graph.producer(node.inputs[In::scores]);
    const bool probabilities = op_as<SoftmaxOp>(scores) != nullptr;
    if (!probabilities && op_as<LogSoftmaxOp>(scores) == nullptr) continue;
    if (probabilities != (loss->attrs().input == CrossEntropyInput::probabilities)) continue;
    const Value logits = scores->inputs.front();
    const Value p = graph.add_output(node.name, graph.type(logits));
    graph.rewrite(n, std::make_shared<SoftmaxCrossEntropyOp>(), {logits, node.inputs[In::labels]},
                  {node.outputs[CrossEntropyOp::Out::loss], p});
    if (probabilities && !read_before(graph, node.inputs[In::scores], n)) {
      graph.replace_uses(node.inputs[In::scores], p);  // the loss makes them as well
    }
  }
  remove_dead(graph, {});
}

}  // namespace

void register_softmax_cross_entropy_pass(Passes& passes) {
  passes.add(Phase::forward, {"fuse_softmax_cross_entropy", fuse_softmax_cross_entropy});
}

}  // namespace linnet
