// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/recompute.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ops/activation/activation.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/concat/concat.h"
#include "plan/passes/concat_chains.h"
#include "plan/passes/graph_copy.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

enum class Scope : std::uint8_t { norms, all };

BatchNormAgainOp again_of(const BatchNormAttrs& norm) {
  return BatchNormAgainOp({.residual = norm.residual, .activation = norm.activation});
}

/// Operands of the BatchNormAgainOp of a norm.
std::vector<Value> operands_again(const Node& norm) {
  std::vector<Value> operands = norm.inputs;
  operands[BatchNormAgainOp::In::mean] = norm.outputs[BatchNormOp::Out::mean];
  operands[BatchNormAgainOp::In::inv_std] = norm.outputs[BatchNormOp::Out::inv_std];
  return operands;
}

/// Writes a graph anew, with second runs of nodes among the others.
class Recompute {
 public:
  Recompute(const TrainingGraph& training, const Supports& supports, Scope scope)
      : old_(training.graph),
        backward_(training.backward),
        supports_(supports),
        scope_(scope),
        new_(training.graph) {
    for (const ConcatChain& chain : concat_chains(old_, backward_, supports)) {
      for (std::size_t n : chain.nodes) shared_.insert(&old_.nodes()[n]);
    }
    for (std::size_t n = backward_; n < old_.nodes().size(); ++n) {
      for (Value v : old_.nodes()[n].inputs) read_.insert(v.id);
    }
  }

  TrainingGraph run(Value loss) {
    TrainingGraph out;
    for (std::size_t n = 0; n < old_.nodes().size(); ++n) {
      if (n == backward_) out.backward = new_.made().nodes().size();
      const Node& node = old_.nodes()[n];
      if (n >= backward_ && add_gradient_from_input(node)) continue;
      std::vector<Value> inputs;
      for (Value v : node.inputs) inputs.push_back(n < backward_ ? new_.of(v) : again(v));
      new_.add(node.op, std::move(inputs), node.name, node.outputs);
    }
    out.loss = new_.of(loss);
    out.graph = std::move(new_.made());
    return out;
  }

  /// Returns whether the graph that run() wrote computes anything otherwise.
  bool changed() const { return changed_; }

 private:
  /// Returns the node that gives `v` again; null: it is kept.
  const Node* source(Value v) const {
    const Node* node = old_.producer(v);
    if (node == nullptr || old_.info(v).storage != Storage::arena || v != node->outputs.front()) {
      return nullptr;
    }
    const bool is_forward = node < old_.nodes().data() + backward_;
    return is_forward && is_worth_it(*node) ? node : nullptr;
  }

  /// The operands must be there anyway, or be much smaller.
  bool is_worth_it(const Node& node) const {
    if (op_as<BatchNormOp>(&node) != nullptr) return runs_again(node) || runs_whole(node);
    const bool is_concat = op_as<ConcatOp>(&node) != nullptr && shared_.count(&node) == 0;
    if (scope_ == Scope::norms) {
      return is_concat &&
             std::ranges::any_of(node.inputs, [&](Value v) { return source(v) != nullptr; });
    }
    if (op_as<ActivationOp>(&node) != nullptr)
      return source(node.inputs[ActivationOp::In::x]) != nullptr;
    return is_concat;
  }

  bool runs_again(const Node& norm) const {
    const BatchNormAgainOp op = again_of(op_as<BatchNormOp>(&norm)->attrs());
    const Value y = norm.outputs[BatchNormOp::Out::y];
    return supports_(op, old_.types(operands_again(norm)), old_.types({&y, 1}));
  }

  /// A residual leads from block to block to the network's begin, whose statistics would all be
  /// found a second time.
  bool runs_whole(const Node& norm) const {
    const BatchNormAttrs& attrs = op_as<BatchNormOp>(&norm)->attrs();
    return scope_ == Scope::all && attrs.momentum == 1 && !attrs.residual && !attrs.sync;
  }

  /// Adds a norm's gradient that finds a ReLU's sign from the norm's operand. False for others.
  bool add_gradient_from_input(const Node& node) {
    using In = BatchNormGradOp::In;
    const auto* gradient = op_as<BatchNormGradOp>(&node);
    if (gradient == nullptr || gradient->attrs().activation != Activation::relu ||
        gradient->attrs().residual || gradient->attrs().from_input) {
      return false;
    }
    const Node* norm = old_.producer(node.inputs[In::y]);
    const auto* op = op_as<BatchNormOp>(norm);
    if (op == nullptr || op->attrs().residual ||
        norm->inputs[BatchNormOp::In::x] != node.inputs[In::x]) {
      return false;
    }
    BatchNormGradAttrs attrs = gradient->attrs();
    attrs.from_input = true;
    std::vector<Value> operands = node.inputs;
    operands[In::beta] = norm->inputs[BatchNormOp::In::beta];
    const auto from_input = std::make_shared<BatchNormGradOp>(attrs);
    if (!supports_(*from_input, old_.types(operands), old_.types(node.outputs))) return false;
    changed_ = true;
    for (Value& v : operands) v = again(v);
    new_.add(from_input, std::move(operands), node.name, node.outputs);
    return true;
  }

  /// Returns what nodes of the backward pass read instead of `v`. Norms with residuals lead from
  /// block to block: of those on the way, `distance` blocks before the one that is needed, every
  /// second one is kept, and the others are computed once more.
  Value again(Value v, int distance = 0) {
    const Node* node = source(v);
    if (node == nullptr) return new_.of(v);
    const auto found = again_.find(v.id);
    if (found != again_.end()) return found->second;
    changed_ = true;
    std::vector<Value> inputs;
    OpPtr op = node->op;
    if (const auto* concat = op_as<ConcatOp>(node)) {
      pieces(node, concat->attrs().axis, inputs);
    } else if (op_as<BatchNormOp>(node) != nullptr && runs_again(*node)) {
      op = std::make_shared<BatchNormAgainOp>(again_of(op_as<BatchNormOp>(node)->attrs()));
      const std::vector<Value> operands = operands_again(*node);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const bool residual = i == BatchNormAgainOp::In::residual;
        inputs.push_back(again(operands[i], residual ? distance + 1 : 0));
      }
    } else {
      for (Value input : node->inputs) inputs.push_back(again(input));
    }
    const Value made = new_.made().add(op, std::move(inputs), node->name).front();
    new_.made().info(made).name = old_.info(v).name;
    if (distance == 0 || (distance % 2 == 0 && read_.count(v.id) > 0)) again_[v.id] = made;
    return made;
  }

  /// Adds what a concatenation of concatenations consists of: the ones between are not needed.
  void pieces(const Node* node, int axis, std::vector<Value>& inputs) {
    for (Value input : node->inputs) {
      const Node* inner = source(input);
      const auto* concat = inner != nullptr ? op_as<ConcatOp>(inner) : nullptr;
      if (concat != nullptr && concat->attrs().axis == axis) {
        pieces(inner, axis, inputs);
      } else {
        inputs.push_back(again(input));
      }
    }
  }

  const Graph& old_;
  std::size_t backward_;
  const Supports& supports_;
  Scope scope_;
  std::set<const Node*> shared_;  ///< concatenations of a chain
  GraphCopy new_;
  bool changed_ = false;
  std::set<int> read_;          ///< by the backward pass
  std::map<int, Value> again_;  ///< by the old value's id
};

void rewrite(TrainingGraph& training, const Supports& supports, Scope scope) {
  Recompute pass(training, supports, scope);
  TrainingGraph written = pass.run(training.loss);
  if (pass.changed()) training = std::move(written);
}

}  // namespace

void recompute_norms(TrainingGraph& training, const Supports& supports) {
  rewrite(training, supports, Scope::norms);
}

void recompute(TrainingGraph& training, const Supports& supports) {
  rewrite(training, supports, Scope::all);
}

}  // namespace linnet
