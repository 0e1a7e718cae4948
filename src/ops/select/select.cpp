// SPDX-License-Identifier: Apache-2.0
#include "ops/select/select.h"

#include <algorithm>

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> SelectOp::infer(std::span<const ValueType> inputs) const {
  const auto fits = [&](const ValueType& type) {
    return type.dtype == DType::f32 && type == inputs[In::condition];
  };
  require((inputs.size() == 2 || inputs.size() == 3) && std::ranges::all_of(inputs, fits),
          "expected a condition, a and optionally b, f32 of one shape; got {}",
          to_string({"condition", "a", "b"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::condition]};
}

std::vector<Value> SelectOp::gradient(const GradientArgs& args) const {
  const Value condition = args.node.inputs[In::condition];
  const Value dy = args.output_gradients[Out::y];
  std::vector<Value> gradients(args.node.inputs.size());
  const bool two = gradients.size() == 2;
  const auto part = [&](bool when) {
    return args.graph.emit(SelectOp({.when = when}), {condition, dy}, args.node.name);
  };
  if (args.needed[In::a]) gradients[1] = part(two ? attrs().when : true);
  if (!two && args.needed[In::b]) gradients[2] = part(false);
  return gradients;
}

void SelectOp::reference(const ReferenceArgs& args) const {
  const bool two = args.inputs.size() == 2;
  for (std::int64_t i = 0; i < args.in(In::condition).shape.elements(); ++i) {
    const bool holds = args.in(In::condition)[i] != 0;
    const double a = args.in(In::a)[i];
    args.out(Out::y)[i] = two     ? (holds == attrs().when ? a : attrs().value)
                          : holds ? a
                                  : args.in(In::b)[i];
  }
}

void register_select(OpRegistry& registry) { registry.add<SelectOp>(); }

}  // namespace linnet
