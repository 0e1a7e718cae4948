// SPDX-License-Identifier: Apache-2.0
#include "ops/table/table.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> TableOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.empty() && !attrs().values.empty(),
          "expected no operand and at least one value; got {} operands, {} values", inputs.size(),
          attrs().values.size());
  return {{DType::f32, Shape{static_cast<std::int64_t>(attrs().values.size())}}};
}

std::vector<Value> TableOp::gradient(const GradientArgs& /*args*/) const { return {}; }

void TableOp::reference(const ReferenceArgs& args) const { args.out(Out::y).data = attrs().values; }

void register_table(OpRegistry& registry) { registry.add<TableOp>(); }

}  // namespace linnet
