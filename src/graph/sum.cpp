// SPDX-License-Identifier: Apache-2.0
#include "graph/sum.h"

namespace linnet {

std::vector<ValueType> SumOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[0] == inputs[1], "expected two operands of one type; got {}",
          to_string({"a", "b"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {inputs[0]};
}

std::vector<Value> SumOp::gradient(const GradientArgs& args) const {
  return {args.output_gradients[0], args.output_gradients[0]};
}

void SumOp::reference(const ReferenceArgs& args) const {
  for (std::size_t i = 0; i < args.out(0).data.size(); ++i) {
    args.out(0).data[i] = args.in(0).data[i] + args.in(1).data[i];
  }
}

Value add_gradients(Graph& graph, Value a, Value b, const std::string& name) {
  return graph.emit(SumOp(), {a, b}, name);
}

}  // namespace linnet
