// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "fusions/conv2d_pool/conv2d_pool.h"
#include "ops/activation/activation.h"
#include "ops/bias_add/bias_add.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"
#include "plan/passes/rewrite.h"

namespace linnet {
namespace {

/// Nodes that read the gradient by a convolution's result; the graph's size where there is none.
struct Readers {
  std::size_t input;
  std::size_t weight;
  std::size_t bias;
};

/// Returns all readers of dz after node n, or nothing where there are others or none of x or of w.
std::optional<Readers> readers_of(const Graph& graph, Value dz, std::size_t n) {
  const std::vector<Node>& nodes = graph.nodes();
  const std::size_t none = nodes.size();
  Readers readers{none, none, none};
  int found = 0;
  const auto keep = [&](bool is, std::size_t at, std::size_t& reader) {
    if (!is || reader != none) return;
    reader = at;
    ++found;
  };
  for (std::size_t i = n + 1; i < none; ++i) {
    const Node& node = nodes[i];
    if (std::ranges::find(node.inputs, dz) == node.inputs.end()) continue;
    keep(op_as<Conv2dGradInputOp>(&node) != nullptr, i, readers.input);
    keep(op_as<Conv2dGradWeightOp>(&node) != nullptr, i, readers.weight);
    keep(op_as<BiasGradOp>(&node) != nullptr, i, readers.bias);
  }
  if (readers.input == none || readers.weight == none || found != graph.uses(dz)) return {};
  return readers;
}

/// [activation_grad] -> max_pool2d_grad -> conv2d_grad_input, conv2d_grad_weight, bias_grad become
/// conv2d_pool_grad_input and conv2d_pool_grad, which skip all but winners, where the backend has
/// both.
void fuse_pool_grads(TrainingGraph& training, const Supports& supports) {
  Graph& graph = training.graph;
  std::vector<bool> erased(graph.nodes().size());
  bool fused = false;
  for (std::size_t n = training.backward; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const auto* pool = op_as<MaxPool2dGradOp>(&node);
    if (pool == nullptr) continue;
    const std::optional<Readers> readers =
        readers_of(graph, node.outputs[MaxPool2dGradOp::Out::dx], n);
    if (!readers) continue;
    const Node& by_input = graph.nodes()[readers->input];
    const Node& by_weight = graph.nodes()[readers->weight];
    const auto& input_attrs = op_as<Conv2dGradInputOp>(&by_input)->attrs();
    const auto& weight_attrs = op_as<Conv2dGradWeightOp>(&by_weight)->attrs();
    // They may be of two convolutions, whose sum is pooled.
    Conv2dPoolAttrs of_input{input_attrs.conv, pool->attrs().pool};
    Conv2dPoolAttrs of_weight{weight_attrs.conv, pool->attrs().pool};
    if (!of_input.is_plain() || !of_weight.is_plain()) continue;
    Value dy = node.inputs[MaxPool2dGradOp::In::dy];
    Value y = dy;
    const Node* activation = graph.producer(dy);
    if (op_as<ActivationGradOp>(activation) != nullptr &&
        op_as<ActivationGradOp>(activation)->attrs().kind == Activation::relu) {
      of_input.conv.activation = Activation::relu;
      of_weight.conv.activation = Activation::relu;
      dy = activation->inputs[ActivationGradOp::In::dy];
      y = activation->inputs[ActivationGradOp::In::saved];
    }
    const Value winner = node.inputs[MaxPool2dGradOp::In::winner];
    const std::vector<Value> input_operands{dy, y, winner,
                                            by_input.inputs[Conv2dGradInputOp::In::w]};
    const std::vector<Value> weight_operands{by_weight.inputs[Conv2dGradWeightOp::In::x], dy, y,
                                             winner};
    auto input_op = std::make_shared<Conv2dPoolGradInputOp>(
        Conv2dPoolGradInputAttrs{of_input, input_attrs.in_h, input_attrs.in_w});
    auto weight_op = std::make_shared<Conv2dPoolGradOp>(
        Conv2dPoolGradAttrs{of_weight, weight_attrs.kernel_h, weight_attrs.kernel_w});
    if (!supported(graph, *input_op, input_operands, supports) ||
        !supported(graph, *weight_op, weight_operands, supports)) {
      continue;
    }
    const Value dw = by_weight.outputs[Conv2dGradWeightOp::Out::dw];
    const Value dx = by_input.outputs[Conv2dGradInputOp::Out::dx];
    Value db;
    if (readers->bias < graph.nodes().size()) {
      const Value sum = graph.nodes()[readers->bias].outputs[BiasGradOp::Out::db];
      db = written_instead(graph, sum, by_weight.name);
      erased[readers->bias] = true;
    } else {
      db = graph.add_output(by_weight.name, {DType::f32, Shape{graph.shape(dw)[0]}});
    }
    graph.rewrite(readers->input, std::move(input_op), input_operands, {dx});
    graph.rewrite(readers->weight, std::move(weight_op), weight_operands, {dw, db});
    fused = true;
  }
  if (!fused) return;
  graph.erase_nodes([&](std::size_t n) { return erased[n]; });
  remove_dead(graph, supports);
}

}  // namespace

void register_conv2d_pool_grads_pass(Passes& passes) {
  passes.add({"fuse_pool_grads", fuse_pool_grads, {.before = {"recompute_norms"}}});
}

}  // namespace linnet
