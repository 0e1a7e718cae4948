// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace linnet {

/// Writes a graph anew, node by node, so that other nodes can stand between them.
class GraphCopy {
 public:
  /// The old graph must outlive it.
  explicit GraphCopy(const Graph& old) : old_(old) {}

  /// Returns what stands for a value of the old graph. Values that no node writes come over when
  /// they are first asked for.
  Value of(Value old);
  bool has(Value old) const { return made_of_.count(old.id) > 0; }
  void set(Value old, Value made) { made_of_[old.id] = made; }
  /// Brings over what no node writes, read or not: parameters, gradients, slots of the caller's.
  void add_unwritten();
  /// Adds a node that stands for an old one with these outputs, in their places.
  std::vector<Value> add(const OpPtr& op, std::vector<Value> inputs, const std::string& name,
                         const std::vector<Value>& outputs);

  /// Adds an old node, reading what stands for its operands.
  void add_as_it_was(const Node& node);

  Graph& made() { return made_; }

 private:
  const Graph& old_;
  Graph made_;
  std::map<int, Value> made_of_;  ///< by the old value's id
};

}  // namespace linnet
