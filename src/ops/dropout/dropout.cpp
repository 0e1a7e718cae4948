// SPDX-License-Identifier: Apache-2.0
#include "ops/dropout/dropout.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> DropoutOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32,
          "expected one f32 operand; got {}", to_string({"x"}, {inputs.begin(), inputs.end()}));
  require(attrs().rate >= 0 && attrs().rate < 1, "expected a rate in [0, 1); got {}", attrs().rate);
  return {inputs[In::x]};
}

std::vector<Value> DropoutOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(DropoutOp(attrs()), {args.output_gradients[Out::y]}, args.node.name)};
}

void DropoutOp::reference(const ReferenceArgs& args) const {
  const DropoutMask mask = dropout_mask(attrs(), args.step);
  const std::uint64_t first = first_element(args.step, args.in(In::x).shape);
  for (std::int64_t i = 0; i < args.in(In::x).shape.elements(); ++i) {
    const std::uint64_t at = first + static_cast<std::uint64_t>(i);
    const double factor = mask(at / 4)[at % 4];
    args.out(Out::y)[i] = factor == 0 ? 0 : args.in(In::x)[i] * factor;
  }
}

std::shared_ptr<const Op> DropoutOp::at_inference(std::shared_ptr<const Op> /*self*/) const {
  return nullptr;
}

void register_dropout(OpRegistry& registry) { registry.add<DropoutOp>(); }

}  // namespace linnet
