// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/add.h"
#include "ops/batch_norm/joined.h"
#include "ops/slice/slice.h"
#include "ops/update_channels/update_channels.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"
#include "plan/passes/rewrite.h"

namespace linnet {
namespace {

/// Rewrites batch norms and their gradients, and marks the nodes that they take over.
class JoinNorms {
 public:
  JoinNorms(Graph& graph, const Supports& supports)
      : graph_(graph), supports_(supports), taken_(graph.nodes().size()) {}

  /// Returns how many of the first `count` nodes are left.
  std::size_t run(std::size_t count) {
    for (std::size_t n = 0; n < taken_.size(); ++n) {
      if (op_as<BatchNormOp>(&node(n)) != nullptr) join_norm(n);
      if (op_as<BatchNormGradOp>(&node(n)) != nullptr) join_gradient(n);
    }
    return erase_marked(graph_, taken_, count);
  }

 private:
  const Node& node(std::size_t n) const { return graph_.nodes()[n]; }
  bool in_arena(Value v) const { return graph_.info(v).storage == Storage::arena; }

  /// Returns the first node from `n` on that reads v; the number of nodes if there is none.
  std::size_t reader(Value v, std::size_t n) const {
    while (n < taken_.size() && (taken_[n] || std::ranges::count(node(n).inputs, v) == 0)) ++n;
    return n;
  }

  /// Returns a value that node n will write instead of `old`: the same name, storage and readers.
  Value instead_of(Value old) { return written_instead(graph_, old, graph_.info(old).name); }

  void join_norm(std::size_t n) {
    using In = BatchNormOp::In;
    const BatchNormAttrs attrs = op_as<BatchNormOp>(&node(n))->attrs();
    const Value x = node(n).inputs[In::x];
    const Node* producer = graph_.producer(x);
    const auto* update = op_as<UpdateChannelsOp>(producer);
    if (update == nullptr || update->attrs().add || attrs.residual || attrs.sync) return;
    const auto u = static_cast<std::size_t>(graph_.info(x).producer);
    const Value part = producer->inputs[UpdateChannelsOp::In::part];
    const bool last = update->attrs().begin + graph_.shape(part)[-1] ==
                      graph_.shape(node(n).inputs[In::gamma])[-1];
    if (!last || reader(x, u + 1) != n || !in_arena(x)) return;
    std::vector<Value> operands = node(n).inputs;
    operands[In::x] = producer->inputs[UpdateChannelsOp::In::whole];
    operands.push_back(part);
    auto op = std::make_shared<BatchNormJoinedOp>(attrs);
    if (!has(*op, operands)) return;
    std::vector<Value> outputs = node(n).outputs;
    outputs.insert(outputs.begin(), instead_of(x));
    graph_.rewrite(n, std::move(op), std::move(operands), std::move(outputs));
    taken_[u] = true;
  }

  void join_gradient(std::size_t n) {
    using In = BatchNormGradOp::In;
    using Out = BatchNormGradOp::Out;
    const BatchNormGradAttrs norm = op_as<BatchNormGradOp>(&node(n))->attrs();
    if (norm.sync) return;
    BatchNormGradJoinedAttrs attrs{.residual = norm.residual,
                                   .activation = norm.activation,
                                   .from_input = norm.from_input};
    std::vector<Value> operands = node(n).inputs;
    if (const Node* sum = sole_producer<AddOp>(graph_, operands[In::dy]); sum != nullptr) {
      attrs.summand = true;
      operands[In::dy] = sum->inputs[AddOp::In::a];
      operands.push_back(sum->inputs[AddOp::In::b]);
    }
    const std::optional<std::size_t> into = added_at(n);
    if (into) {
      attrs.into = true;
      operands.push_back(node(*into).inputs[UpdateChannelsOp::In::whole]);
    }
    const Value dx =
        into ? node(*into).outputs[UpdateChannelsOp::Out::y] : node(n).outputs[Out::dx];
    const std::size_t piece =
        slice_of(dx, graph_.shape(node(n).outputs[Out::dx])[-1], into.value_or(n));
    if (piece < taken_.size()) {
      attrs.piece = graph_.shape(node(piece).outputs[SliceOp::Out::y])[-1];
      if (!has(BatchNormGradJoinedOp(attrs), operands)) attrs.piece = 0;
    }
    if (!attrs.summand && !attrs.into && attrs.piece == 0) return;
    auto op = std::make_shared<BatchNormGradJoinedOp>(attrs);
    if (!has(*op, operands)) return;
    if (attrs.summand) {
      taken_[static_cast<std::size_t>(graph_.info(node(n).inputs[In::dy]).producer)] = true;
    }
    std::vector<Value> outputs = node(n).outputs;
    if (into) {
      outputs[Out::dx] = dx;
      for (std::size_t o = Out::dgamma; o < outputs.size(); ++o)
        outputs[o] = instead_of(outputs[o]);
      taken_[n] = true;
    }
    if (attrs.piece > 0) {
      outputs.push_back(instead_of(node(piece).outputs[SliceOp::Out::y]));
      taken_[piece] = true;
    }
    graph_.rewrite(into.value_or(n), std::move(op), std::move(operands), std::move(outputs));
  }

  /// Returns the node that adds dx of node n to the first channels of a wider value; nothing else
  /// may read dx, nor any other result of n before it.
  std::optional<std::size_t> added_at(std::size_t n) const {
    const Value dx = node(n).outputs[BatchNormGradOp::Out::dx];
    const std::size_t u = reader(dx, n + 1);
    if (u == taken_.size() || !in_arena(dx) || graph_.uses(dx) != 1) return std::nullopt;
    const auto* update = op_as<UpdateChannelsOp>(&node(u));
    const bool fits =
        update != nullptr && update->attrs().add && update->attrs().begin == 0 &&
        node(u).inputs[UpdateChannelsOp::In::part] == dx &&
        std::ranges::all_of(node(n).outputs, [&](Value v) { return reader(v, n + 1) >= u; });
    return fits ? std::optional(u) : std::nullopt;
  }

  /// Returns a node that copies the channels of `wide` that end at `end`; the number of nodes if
  /// there is none.
  std::size_t slice_of(Value wide, std::int64_t end, std::size_t n) const {
    const int axis = static_cast<int>(graph_.shape(wide).rank()) - 1;
    for (n = reader(wide, n + 1); n < taken_.size(); n = reader(wide, n + 1)) {
      const auto* slice = op_as<SliceOp>(&node(n));
      if (slice != nullptr && slice->attrs().axis == axis && slice->attrs().end == end) break;
    }
    return n;
  }

  bool has(const Op& op, const std::vector<Value>& operands) const {
    return supported(graph_, op, operands, supports_);
  }

  Graph& graph_;
  const Supports& supports_;
  std::vector<bool> taken_;
};

/// What stands before and after batch norms and their gradients becomes part of them, where the
/// backend has that: update_channels -> batch_norm, add -> batch_norm_grad -> update_channels ->
/// slice.
void join_norms(TrainingGraph& training, const Supports& supports) {
  training.backward = JoinNorms(training.graph, supports).run(training.backward);
}

}  // namespace

void register_joined_norms_pass(Passes& passes) {
  passes.add(
      {"join_norms", join_norms, {.after = {"recompute_norms", "share_concats", "slice_concats"}}});
}

}  // namespace linnet
