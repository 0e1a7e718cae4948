// SPDX-License-Identifier: Apache-2.0
#include "graph/add.h"

namespace linnet {

std::vector<ValueType> AddOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[In::a] == inputs[In::b],
          "expected two operands of one type; got {}",
          to_string({"a", "b"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {inputs[In::a]};
}

std::vector<Value> AddOp::gradient(const GradientArgs& args) const {
  const Value dy = args.output_gradients[Out::y];
  return {dy, dy};
}

void AddOp::reference(const ReferenceArgs& args) const {
  for (std::size_t i = 0; i < args.out(Out::y).data.size(); ++i) {
    args.out(Out::y).data[i] = args.in(In::a).data[i] + args.in(In::b).data[i];
  }
}

}  // namespace linnet
