// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "fusions/attention/attention.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/causal_mask/causal_mask.h"
#include "ops/dropout/dropout.h"
#include "ops/matmul/matmul.h"
#include "ops/reshape/reshape.h"
#include "ops/slice/slice.h"
#include "ops/softmax/softmax.h"
#include "ops/transpose/transpose.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

/// An attention whose operands are matrices of their own.
struct Found {
  AttentionAttrs attrs;
  std::vector<Value> inputs;
};

/// Multiplies `scale` by a factor that has no other reader; returns the value before it.
Value without_scale(const Graph& graph, Value value, double& scale) {
  const Node* node = sole_producer<ScaleOp>(graph, value);
  if (node == nullptr || op_as<ScaleOp>(node)->attrs().beta != 0) return value;
  scale *= op_as<ScaleOp>(node)->attrs().alpha;
  return node->inputs.front();
}

/// Returns the attention that ends in this product of weights and values.
std::optional<Found> find_attention(const Graph& graph, const Node& product_node) {
  const auto* product = op_as<MatmulOp>(&product_node);
  if (product == nullptr || product->attrs() != MatmulAttrs{}) return std::nullopt;
  Found found;
  Value weights = product_node.inputs[MatmulOp::In::a];
  if (const Node* dropout = sole_producer<DropoutOp>(graph, weights)) {
    found.attrs.dropout = op_as<DropoutOp>(dropout)->attrs().rate;
    found.attrs.stream = op_as<DropoutOp>(dropout)->attrs().stream;
    weights = dropout->inputs[DropoutOp::In::x];
  }
  const Node* softmax = sole_producer<SoftmaxOp>(graph, weights);
  if (softmax == nullptr) return std::nullopt;
  Value scores = softmax->inputs[SoftmaxOp::In::x];
  if (const Node* mask = sole_producer<CausalMaskOp>(graph, scores)) {
    // A mask at the default fill or below gives weight 0, as the operator's own mask does.
    if (op_as<CausalMaskOp>(mask)->attrs().fill > CausalMaskAttrs{}.fill) return std::nullopt;
    found.attrs.causal = true;
    scores = mask->inputs[CausalMaskOp::In::x];
  }
  scores = without_scale(graph, scores, found.attrs.scale);
  const Node* scores_node = sole_producer<MatmulOp>(graph, scores);
  if (scores_node == nullptr ||
      op_as<MatmulOp>(scores_node)->attrs() != MatmulAttrs{.transpose_b = true})
    return std::nullopt;
  found.inputs = {without_scale(graph, scores_node->inputs[MatmulOp::In::a], found.attrs.scale),
                  scores_node->inputs[MatmulOp::In::b], product_node.inputs[MatmulOp::In::b]};
  return found;
}

/// Returns the value (N, T, 3, heads, size) of which these are slices, heads first; null: none.
Value together(const Graph& graph, const std::vector<Value>& inputs) {
  Value all;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Node* view = sole_producer<ReshapeOp>(graph, inputs[i]);
    if (view == nullptr) return {};
    const Node* slice = sole_producer<SliceOp>(graph, view->inputs.front());
    const auto begin = static_cast<std::int64_t>(i);
    if (slice == nullptr ||
        op_as<SliceOp>(slice)->attrs() != SliceAttrs{.axis = 1, .begin = begin, .end = begin + 1} ||
        (i > 0 && slice->inputs.front() != all))
      return {};
    all = slice->inputs.front();
    const Shape& part = graph.shape(inputs[i]);
    const Shape& whole = graph.shape(all);
    if (whole.rank() != 5 || whole[1] != 3 || part != Shape{whole[0], whole[2], whole[3], whole[4]})
      return {};
  }
  const Node* transpose = graph.producer(all);
  const auto* op = op_as<TransposeOp>(transpose);
  const bool moves = op != nullptr && graph.uses(all) == 3 &&
                     op->attrs() == TransposeAttrs{.permutation = {0, 2, 3, 1, 4}};
  return moves ? transpose->inputs.front() : Value{};
}

/// Rewrites node n as an attention if the device wants that.
void write(Graph& graph, std::size_t n, const Found& found, const Supports& supports) {
  auto op = std::make_shared<AttentionOp>(found.attrs);
  const std::vector<ValueType> operands = graph.types(found.inputs);
  const std::vector<ValueType> results = op->infer(operands);
  if (!supports(*op, operands, results)) return;
  using Out = AttentionOp::Out;
  const Value y = graph.nodes()[n].outputs.front();
  const Value sums = graph.add_output(graph.info(y).name + ".sums", results[Out::sums]);
  graph.rewrite(n, std::move(op), found.inputs, {y, sums});
}

/// matmul, [causal_mask], softmax, [dropout], matmul become one attention, which then reads
/// queries, keys and values where a layer's projection has written them, and writes its heads side
/// by side.
void fuse_attention(Graph& graph, const Supports& supports) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    if (const std::optional<Found> found = find_attention(graph, graph.nodes()[n]))
      write(graph, n, *found, supports);
  }
  remove_dead(graph, supports);
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const auto* transpose = op_as<TransposeOp>(&node);
    if (transpose == nullptr || transpose->attrs() != TransposeAttrs{.permutation = {0, 2, 1, 3}})
      continue;
    const Node* apart = sole_producer<AttentionOp>(graph, node.inputs.front());
    if (apart == nullptr || op_as<AttentionOp>(apart)->attrs().together) continue;
    const Value all = together(graph, apart->inputs);
    if (!all) continue;
    Found found{op_as<AttentionOp>(apart)->attrs(), {all}};
    found.attrs.together = true;
    write(graph, n, found, supports);
  }
  remove_dead(graph, supports);
}

}  // namespace

void register_attention_pass(Passes& passes) {
  passes.add(Phase::forward, {"fuse_attention", fuse_attention});
}

}  // namespace linnet
