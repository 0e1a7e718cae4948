// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/passes/passes.h"

namespace linnet::testing {

inline const Supports kEverything = [](const Op&, std::span<const ValueType>,
                                       std::span<const ValueType>) { return true; };

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
