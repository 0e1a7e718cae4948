// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ops/dense/dense.h"
#include "plan/passes/passes.h"

namespace linnet::testing {

inline const Supports kEverything = [](const Op&, std::span<const ValueType>,
                                       std::span<const ValueType>) { return true; };

/// x W into an arena value, from which a test goes on.
inline Value product(Graph& graph) {
  const Value x = graph.add_value("x", {DType::f32, {4, 3}}, Storage::external, 0);
  const Value w = graph.add_value("w", {DType::f32, {5, 3}}, Storage::external, 1);
  return graph.emit(DenseOp(), {x, w}, "dense");
}

inline void keep(Graph& graph, Value value, std::size_t slot) {
  graph.info(value).storage = Storage::external;
  graph.info(value).offset = slot;
}

/// A graph that a test of a pass builds by hand, ending in values that outlast it.
class BuiltGraph {
 private:
  std::size_t slots_ = 0;

 public:
  Graph graph;

  Value input(Shape shape) {
    return graph.add_value("input", {DType::f32, std::move(shape)}, Storage::external, slots_++);
  }
  void keep(Value value) {
    graph.info(value).storage = Storage::external;
    graph.info(value).offset = slots_++;
  }
};

}  // namespace linnet::testing
