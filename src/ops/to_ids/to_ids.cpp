// SPDX-License-Identifier: Apache-2.0
#include "ops/to_ids/to_ids.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> ToIdsOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32,
          "expected one f32 operand; got {}", to_string({"x"}, {inputs.begin(), inputs.end()}));
  return {{DType::i32, inputs[In::x].shape}};
}

std::vector<Value> ToIdsOp::gradient(const GradientArgs& /*args*/) const { return {Value{}}; }

void ToIdsOp::reference(const ReferenceArgs& args) const {
  for (std::int64_t i = 0; i < args.out(Out::y).shape.elements(); ++i) {
    const double x = args.in(In::x)[i];
    const bool holds = std::abs(x) < 2147483648.0 || x == -2147483648.0;
    args.out(Out::y)[i] = holds ? std::trunc(x) : -1;
  }
}

void register_to_ids(OpRegistry& registry) { registry.add<ToIdsOp>(); }

}  // namespace linnet
