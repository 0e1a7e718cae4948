// SPDX-License-Identifier: Apache-2.0
#include "model/generation_graph.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "core/dims.h"
#include "fusions/fusions.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/cached_attention/cached_attention.h"
#include "ops/causal_mask/causal_mask.h"
#include "ops/gather/gather.h"
#include "ops/matmul/matmul.h"
#include "ops/reshape/reshape.h"
#include "ops/slice/slice.h"
#include "ops/softmax/softmax.h"
#include "ops/transpose/transpose.h"

namespace linnet {
namespace {

/// A value of the single step. `axis` is that of the steps in the whole network's value; -1: it has
/// none.
struct StepValue {
  Value value;
  int axis = -1;
};

/// Products of queries and keys, which become an attention where values are weighted by them.
struct Scores {
  Value q, k;
  bool masked = false;
  bool weights = false;  ///< after the softmax
};

constexpr std::array<std::string_view, 4> kByElement{"activation", "arithmetic", "scale", "unary"};
/// These compute the last axis, or the last axes.
constexpr std::array<std::string_view, 5> kByRow{"bias_add", "dense", "group_norm", "log_softmax",
                                                 "softmax"};

bool is_one_of(std::span<const std::string_view> names, const Node& node) {
  return std::ranges::count(names, node.op->name()) > 0;
}

template <class O>
const O* op_of(const Node& node) {
  return dynamic_cast<const O*>(node.op.get());
}

/// The network over all steps of one sample, at inference.
struct WholeNetwork {
  explicit WholeNetwork(const NetworkDefinition& network)
      : steps(network.inputs[0].sample[0]), ids(add_inputs(network, graph, 1).front()) {
    std::vector<Value> parameters;
    logits = instantiate(network, graph, std::array{ids}, 1, Mode::inference, parameters).front();
  }
  const Shape& shape(Value v) const { return graph.shape(v); }

  Graph graph;
  std::int64_t steps;
  Value ids;
  Value logits;
};

/// Writes the step's graph node by node. add() returns false where it cannot.
class StepWriter {
 public:
  explicit StepWriter(const WholeNetwork& whole) : whole_(whole), map_(whole.graph.value_count()) {
    at(whole.ids) = {graph().add_value("id", {DType::i32, Shape{1, 1}}, Storage::external, 0), 1};
    position_ = graph().add_value("position", {DType::i32, Shape{1}}, Storage::external, 1);
  }

  bool add(const Node& node) {
    if (scores_.contains(node.inputs[0].id)) return add_to_scores(node);
    for (const Value v : node.inputs) {
      if (!operand(v).value) return false;
    }
    if (op_of<MatmulOp>(node) != nullptr) return add_scores(node);
    if (op_of<ReshapeOp>(node) != nullptr) return add_reshape(node);
    const int axis = axis_of(node);
    if (axis < 0) return false;
    std::vector<Value> inputs;
    for (const Value v : node.inputs) inputs.push_back(beside(v, node, axis));
    return keep(node, node.op, std::move(inputs), axis);
  }

  StepValue& at(Value v) { return map_[static_cast<std::size_t>(v.id)]; }
  Graph& graph() { return made_.graph; }
  GenerationGraph& made() { return made_; }

 private:
  /// Returns an operand; weights and constants come when they are first read.
  const StepValue& operand(Value v) {
    StepValue& found = at(v);
    const ValueInfo& info = whole_.graph.info(v);
    if (found.value || info.producer >= 0) return found;
    if (info.storage != Storage::constant) {
      found.value = graph().add_value(info.name, info.type, info.storage, info.offset);
    } else if (info.elements.empty()) {
      found.value = graph().add_constant(info.type, info.fill);
    } else {
      found.value = graph().add_constant(info.elements);
    }
    return found;
  }

  /// Returns the axis of the steps in the node's result; -1 where it may mix steps.
  int axis_of(const Node& node) {
    const int first = operand(node.inputs[0]).axis;
    const Shape& x = whole_.shape(node.inputs[0]);
    const auto others = std::ranges::count_if(node.inputs, [&](Value v) {
      return v != node.inputs[0] && operand(v).axis >= 0;
    });
    if (op_of<GatherOp>(node) != nullptr) {
      return first >= 0 ? -1 : operand(node.inputs[GatherOp::In::indices]).axis;
    }
    if (is_one_of(kByElement, node)) return axis_of_elements(node);
    if (first < 0 || others > 0) return -1;
    if (const auto* transpose = op_of<TransposeOp>(node)) {
      const auto& from = transpose->attrs().permutation;
      return static_cast<int>(std::ranges::find(from, first) - from.begin());
    }
    if (const auto* slice = op_of<SliceOp>(node)) return slice->attrs().axis == first ? -1 : first;
    const bool alone =
        first == 0 || (first == 1 && node.op->steps(0, x, whole_.shape(node.outputs[0])).kept);
    const bool by_row = is_one_of(kByRow, node) && first + 1 < static_cast<int>(x.rank());
    return by_row && alone ? first : -1;
  }

  int axis_of_elements(const Node& node) {
    int axis = -1;
    for (const Value v : node.inputs) {
      const int own = operand(v).axis;
      const bool fits =
          own < 0 || (whole_.shape(v).rank() == whole_.shape(node.outputs[0]).rank() &&
                      (axis < 0 || own == axis));
      if (!fits) return -1;
      axis = std::max(axis, own);
    }
    return axis;
  }

  /// Returns an operand of a node whose result has the steps on `axis`: of weights (T, F), which
  /// differ from step to step, the row of this one.
  Value beside(Value v, const Node& node, int axis) {
    const StepValue& found = operand(v);
    const bool by_step = found.axis < 0 && axis == 1 && op_of<ArithmeticOp>(node) != nullptr &&
                         whole_.shape(node.outputs[0]).rank() == 3 && whole_.shape(v).rank() == 2 &&
                         whole_.shape(v)[0] == whole_.steps;
    if (!by_step) return found.value;
    return graph().emit(GatherOp(), {found.value, position_}, node.name);
  }

  /// Adds a node whose first result must be that of the whole network for one step.
  bool keep(const Node& node, OpPtr op, std::vector<Value> inputs, int axis) {
    const std::vector<Value> outputs = graph().add(std::move(op), std::move(inputs), node.name);
    for (std::size_t i = 0; i < outputs.size(); ++i) at(node.outputs[i]) = {outputs[i], axis};
    return graph().shape(outputs[0]) == Shape(one_step(whole_.shape(node.outputs[0]), axis));
  }

  static std::vector<std::int64_t> one_step(const Shape& shape, int axis) {
    std::vector<std::int64_t> dims = dims_of(shape);
    dims[static_cast<std::size_t>(axis)] = 1;
    return dims;
  }

  /// The steps stay where as many elements lie before them.
  bool add_reshape(const Node& node) {
    const StepValue& x = operand(node.inputs[0]);
    if (x.axis < 0) return false;
    const auto outer = [](const Shape& shape, int axis) {
      std::int64_t product = 1;
      for (int i = 0; i < axis; ++i) product *= shape[i];
      return product;
    };
    const std::int64_t before = outer(whole_.shape(node.inputs[0]), x.axis);
    const Shape& to = whole_.shape(node.outputs[0]);
    for (int axis = 0; axis < static_cast<int>(to.rank()); ++axis) {
      if (to[axis] != whole_.steps || outer(to, axis) != before) continue;
      return keep(node, std::make_shared<ReshapeOp>(ReshapeAttrs{one_step(to, axis)}), {x.value},
                  axis);
    }
    return false;
  }

  /// Whether v is (1, heads, T, size).
  bool is_by_head(Value v) {
    return operand(v).axis == 2 && operand(v).value && whole_.shape(v).rank() == 4;
  }

  bool add_scores(const Node& node) {
    const Value q = node.inputs[MatmulOp::In::a];
    const Value k = node.inputs[MatmulOp::In::b];
    if (op_of<MatmulOp>(node)->attrs() != MatmulAttrs{.transpose_b = true} || !is_by_head(q) ||
        !is_by_head(k)) {
      return false;
    }
    scores_[node.outputs[0].id] = {operand(q).value, operand(k).value};
    return true;
  }

  /// A scale, the causal mask, the softmax, or the product with the values.
  bool add_to_scores(const Node& node) {
    Scores scores = scores_.at(node.inputs[0].id);
    if (const auto* product = op_of<MatmulOp>(node)) {
      return scores.weights && product->attrs() == MatmulAttrs{} && add_attention(node, scores);
    }
    const auto* mask = op_of<CausalMaskOp>(node);
    const auto* scale = op_of<ScaleOp>(node);
    // What all scores of a query have in common changes no weight, but it would those of q k.
    if (!scores.masked && scale != nullptr && scale->attrs().beta == 0) {
      scores.q = graph().add_one(node.op, {scores.q}, node.name);
    } else if (mask != nullptr && mask->attrs().fill <= CausalMaskAttrs{}.fill) {
      scores.masked = true;
    } else if (scores.masked && !scores.weights && op_of<SoftmaxOp>(node) != nullptr) {
      scores.weights = true;
    } else {
      return false;
    }
    scores_[node.outputs[0].id] = scores;
    return true;
  }

  bool add_attention(const Node& node, const Scores& scores) {
    const Value v = node.inputs[MatmulOp::In::b];
    if (!is_by_head(v) || graph().shape(operand(v).value) != graph().shape(scores.q)) return false;
    const Shape& shape = whole_.shape(v);
    const auto cache = [&](const char* name, const Shape& of) {
      constexpr std::size_t kFirstCache = 3;
      const ValueType type{DType::f32, of};
      const std::size_t slot = kFirstCache + made_.cache_bytes.size();
      made_.cache_bytes.push_back(type.bytes());
      return graph().add_value(node.name + name, type, Storage::external, slot);
    };
    const Value keys = cache(".keys", {1, shape[1], shape[3], shape[2]});
    const Value values = cache(".values", shape);
    const Value y =
        graph().emit(CachedAttentionOp(),
                     {scores.q, scores.k, operand(v).value, keys, values, position_}, node.name);
    at(node.outputs[0]) = {y, 2};
    return true;
  }

  const WholeNetwork& whole_;
  std::vector<StepValue> map_;
  std::map<int, Scores> scores_;  ///< by value
  Value position_;
  GenerationGraph made_;
};

}  // namespace

std::optional<GenerationGraph> generation_graph(const NetworkDefinition& network,
                                                const Supports& supports) {
  const WholeNetwork whole(network);
  if (whole.steps < 2 || network.draws_noise()) return {};
  StepWriter writer(whole);
  for (const Node& node : whole.graph.nodes()) {
    if (!writer.add(node)) return {};
  }
  const StepValue logits = writer.at(whole.logits);
  if (!logits.value || logits.axis != 1) return {};
  Graph& graph = writer.graph();
  graph.info(logits.value).storage = Storage::external;
  graph.info(logits.value).offset = 2;
  for (const Phase phase : {Phase::forward, Phase::inference, Phase::final}) {
    all_passes().run(phase, graph, supports);
  }
  return std::move(writer.made());
}

}  // namespace linnet
