// SPDX-License-Identifier: Apache-2.0
#include "ops/causal_mask/causal_mask.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> CausalMaskOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 &&
              inputs[In::x].shape.rank() >= 3,
          "expected f32 scores (N, ..., queries, keys); got {}",
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::x]};
}

std::vector<Value> CausalMaskOp::gradient(const GradientArgs& args) const {
  return {
      args.graph.emit(CausalMaskOp({.fill = 0}), {args.output_gradients[Out::y]}, args.node.name)};
}

void CausalMaskOp::reference(const ReferenceArgs& args) const {
  const std::int64_t queries = args.in(In::x).shape[-2];
  const std::int64_t keys = args.in(In::x).shape[-1];
  for (std::int64_t i = 0; i < args.in(In::x).shape.elements(); ++i) {
    const bool seen = i % keys <= i / keys % queries;
    args.out(Out::y)[i] = seen ? args.in(In::x)[i] : attrs().fill;
  }
}

void register_causal_mask(OpRegistry& registry) { registry.add<CausalMaskOp>(); }

}  // namespace linnet
