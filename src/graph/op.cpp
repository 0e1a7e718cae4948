// SPDX-License-Identifier: Apache-2.0
#include "graph/op.h"

#include <utility>

#include "graph/graph.h"

namespace linnet {

void AttributeWriter::add(std::string_view name, AttributeValue value) {
  out_.emplace_back(name, std::move(value));
}

std::vector<Value> Op::gradient(const GradientArgs& args) const {
  fail("[{} '{}'] has no gradient", name(), args.node.name);
}

Cost Op::cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const {
  Cost cost;
  for (const ValueType& type : inputs) cost.bytes += static_cast<double>(type.bytes());
  for (const ValueType& type : outputs) {
    cost.bytes += static_cast<double>(type.bytes());
    cost.flops += static_cast<double>(type.shape.elements());
  }
  return cost;
}

}  // namespace linnet
