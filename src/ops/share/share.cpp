// SPDX-License-Identifier: Apache-2.0
#include "ops/share/share.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> ShareOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32,
          "expected one f32 operand; got {}", to_string({"x"}, {inputs.begin(), inputs.end()}));
  require(attrs().index >= 0 && attrs().index < static_cast<std::int64_t>(kShares),
          "expected an index below {}; got {}", kShares, attrs().index);
  return {inputs[In::x]};
}

std::vector<Value> ShareOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(ShareOp(attrs()), {args.output_gradients[Out::y]}, args.node.name)};
}

void ShareOp::reference(const ReferenceArgs& args) const {
  const double share = args.step.shares[static_cast<std::size_t>(attrs().index)];
  for (std::int64_t i = 0; i < args.in(In::x).shape.elements(); ++i) {
    args.out(Out::y)[i] = share * args.in(In::x)[i];
  }
}

void register_share(OpRegistry& registry) { registry.add<ShareOp>(); }

}  // namespace linnet
