// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/recompute.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ops/activation/activation.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/concat/concat.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

/// Writes a graph anew, with second runs of nodes among the others.
class Recompute {
 public:
  Recompute(const Graph& graph, std::size_t backward) : old_(graph), backward_(backward) {}

  Graph run() {
    for (std::size_t n = 0; n < old_.nodes().size(); ++n) {
      const Node& node = old_.nodes()[n];
      std::vector<Value> inputs;
      for (Value v : node.inputs) inputs.push_back(n < backward_ ? first(v) : again(v));
      add(node, inputs, node.outputs);
    }
    return std::move(new_);
  }

  Value first(Value v) {
    const auto [found, is_new] = first_.try_emplace(v.id);
    if (is_new) found->second = outside(v);
    return found->second;
  }

 private:
  /// Returns a value that no node writes.
  Value outside(Value v) {
    const ValueInfo& info = old_.info(v);
    const Value copy = new_.add_value(info.name, info.type, info.storage, info.offset);
    new_.info(copy) = info;
    return copy;
  }

  std::vector<Value> add(const Node& node, std::vector<Value> inputs,
                         const std::vector<Value>& outputs) {
    std::vector<Value> made = new_.add(node.op, std::move(inputs), node.name);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const ValueInfo& info = old_.info(outputs[i]);
      new_.info(made[i]).name = info.name;
      new_.info(made[i]).storage = info.storage;
      new_.info(made[i]).offset = info.offset;
      first_[outputs[i].id] = made[i];
    }
    return made;
  }

  /// Returns the node that gives `v` again; null: it is kept.
  const Node* source(Value v) const {
    const Node* node = old_.producer(v);
    if (node == nullptr || old_.info(v).storage != Storage::arena || v != node->outputs.front()) {
      return nullptr;
    }
    const bool is_forward = node < old_.nodes().data() + backward_;
    return is_forward && is_worth_it(*node) ? node : nullptr;
  }

  /// The operands must be there anyway, or be much smaller. A residual is neither: it would lead
  /// from block to block to the network's begin.
  bool is_worth_it(const Node& node) const {
    if (const auto* norm = op_as<BatchNormOp>(&node)) {
      return norm->attrs().momentum == 1 && !norm->attrs().residual;
    }
    if (op_as<ActivationOp>(&node) != nullptr)
      return source(node.inputs[ActivationOp::In::x]) != nullptr;
    return op_as<ConcatOp>(&node) != nullptr;
  }

  /// Returns what nodes of the backward pass read instead of `v`.
  Value again(Value v) {
    const Node* node = source(v);
    if (node == nullptr) return first(v);
    const auto [found, is_new] = again_.try_emplace(v.id);
    if (!is_new) return found->second;
    std::vector<Value> inputs;
    if (const auto* concat = op_as<ConcatOp>(node)) {
      pieces(node, concat->attrs().axis, inputs);
    } else {
      for (Value input : node->inputs) inputs.push_back(again(input));
    }
    const Value made = new_.add(node->op, std::move(inputs), node->name).front();
    new_.info(made).name = old_.info(v).name;
    again_[v.id] = made;  // the entry may have moved
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
  Graph new_;
  std::map<int, Value> first_;  ///< by the old value's id
  std::map<int, Value> again_;
};

}  // namespace

Value recompute(Graph& graph, std::size_t backward, Value value) {
  Recompute pass(graph, backward);
  Graph written = pass.run();
  const Value moved = pass.first(value);
  graph = std::move(written);
  return moved;
}

}  // namespace linnet
