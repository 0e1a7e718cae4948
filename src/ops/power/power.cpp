// SPDX-License-Identifier: Apache-2.0
#include "ops/power/power.h"

#include <cmath>

#include "graph/registry.h"
#include "ops/select/select.h"
#include "ops/unary/terms.h"

namespace linnet {

std::vector<ValueType> PowerOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[In::a] == inputs[In::b] && inputs[In::a].dtype == DType::f32,
          "expected two f32 operands of one shape; got {}",
          to_string({"a", "b"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::a]};
}

std::vector<Value> PowerOp::gradient(const GradientArgs& args) const {
  const Terms terms(args.graph, args.node.name);
  const Value a = args.node.inputs[In::a];
  const Value b = args.node.inputs[In::b];
  const Value dy = args.output_gradients[Out::y];
  const auto unless_zero = [&](Value of, Value slope) {
    return args.graph.emit(SelectOp(), {of, slope}, args.node.name);
  };
  std::vector<Value> gradients(2);
  if (args.needed[In::a]) {  // b a^(b - 1)
    const Value lower = args.graph.emit(PowerOp(), {a, terms.scaled(b, 1, -1)}, args.node.name);
    gradients[In::a] = terms.product(dy, unless_zero(b, terms.product(b, lower)));
  }
  if (args.needed[In::b]) {  // a^b log(a)
    const Value log = terms.unary({.kind = Unary::log}, a);
    const Value slope = terms.product(args.node.outputs[Out::y], log);
    gradients[In::b] = terms.product(dy, unless_zero(a, slope));
  }
  return gradients;
}

void PowerOp::reference(const ReferenceArgs& args) const {
  for (std::int64_t i = 0; i < args.in(In::a).shape.elements(); ++i) {
    args.out(Out::y)[i] = std::pow(args.in(In::a)[i], args.in(In::b)[i]);
  }
}

void register_power(OpRegistry& registry) { registry.add<PowerOp>(); }

}  // namespace linnet
