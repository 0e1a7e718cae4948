// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/op.h"

namespace linnet {

/// One application of an operator. Nodes stand in the order in which they run.
struct Node {
  OpPtr op;
  std::string name;  ///< the layer's, for errors and dumps
  std::vector<Value> inputs;
  std::vector<Value> outputs;
};

/// A typed, static, acyclic graph of operators over values. A plain value: copy it to keep a state.
class Graph {
 public:
  /// Returns a value that no node writes.
  Value add_value(std::string name, ValueType type, Storage storage, std::size_t offset = 0);
  Value add_constant(ValueType type, double fill);
  /// Adds a constant vector f32 of these elements, at least one.
  Value add_constant(std::vector<double> elements);

  /// Appends a node; its outputs are arena values named after it. Throws Error
  /// "[conv2d 'stem'] expected ..." where the inputs don't fit.
  std::vector<Value> add(OpPtr op, std::vector<Value> inputs, std::string name);
  /// Does the same for an operator of one output.
  Value add_one(OpPtr op, std::vector<Value> inputs, std::string name);
  template <class O>
  Value emit(O op, std::vector<Value> inputs, std::string name) {
    return add_one(std::make_shared<O>(std::move(op)), std::move(inputs), std::move(name));
  }

  const std::vector<Node>& nodes() const { return nodes_; }
  std::size_t value_count() const { return values_.size(); }
  const ValueInfo& info(Value value) const;
  ValueInfo& info(Value value);
  const ValueType& type(Value value) const { return info(value).type; }
  const Shape& shape(Value value) const { return info(value).type.shape; }
  std::vector<ValueType> types(std::span<const Value> values) const;
  /// Returns the node that writes `value`, or null.
  const Node* producer(Value value) const;
  /// Returns how many node inputs read `value`.
  int uses(Value value) const;

  /// Sends every reader of `from` to `to`.
  void replace_uses(Value from, Value to);
  /// Replaces the node's operator and operands in place (its outputs keep their values; types must
  /// be what the new operator infers, new outputs are added).
  void rewrite(std::size_t node, OpPtr op, std::vector<Value> inputs, std::vector<Value> outputs);
  /// Adds an arena value for a node that rewrite() is about to extend.
  Value add_output(std::string name, ValueType type);
  /// Drops the nodes for which `dead(index)` holds.
  void erase_nodes(const std::function<bool(std::size_t)>& dead);

  /// Throws InternalError if an edge points forward, a type differs from what the operator infers,
  /// or a producer is wrong. Run after every pass.
  void verify() const;

 private:
  void count_uses(const Node& node, int by);

  std::vector<ValueInfo> values_;
  std::vector<int> uses_;  ///< of each value
  std::vector<Node> nodes_;
};

/// Op::cost() of a node.
Cost cost_of(const Graph& graph, const Node& node);

/// Returns the graph as text, one node a line: "%7 f32 (128, 10) = dense(%5, %1, %2) 'head'
/// units=10".
std::string dump(const Graph& graph);

}  // namespace linnet
