// SPDX-License-Identifier: Apache-2.0
#include "ops/collect/collect.h"

#include <algorithm>

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> CollectOp::infer(std::span<const ValueType> inputs) const {
  require_f32(inputs);
  require(inputs.size() == attrs().begins.size(), "expected {} operands; got {}",
          attrs().begins.size(), inputs.size());
  std::int64_t end = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    require(attrs().begins[i] >= end, "operand {} begins at {}, before the end of the one before",
            i, attrs().begins[i]);
    end = attrs().begins[i] + inputs[i].shape.elements();
  }
  require(end <= attrs().length, "expected operands within {} elements; they end at {}",
          attrs().length, end);
  return {{DType::f32, Shape{attrs().length}}};
}

void CollectOp::reference(const ReferenceArgs& args) const {
  std::ranges::fill(args.out(Out::y).data, 0.0);
  for (std::size_t i = 0; i < args.inputs.size(); ++i) {
    std::ranges::copy(args.in(i).data, args.out(Out::y).data.begin() + attrs().begins[i]);
  }
}

Cost CollectOp::cost(std::span<const ValueType> /*inputs*/,
                     std::span<const ValueType> /*outputs*/) const {
  return {};
}

std::vector<std::size_t> CollectOp::places_in_result() const {
  std::vector<std::size_t> bytes;
  for (const std::int64_t begin : attrs().begins) {
    bytes.push_back(static_cast<std::size_t>(begin) * sizeof(float));
  }
  return bytes;
}

void register_collect(OpRegistry& registry) { registry.add<CollectOp>(); }

}  // namespace linnet
