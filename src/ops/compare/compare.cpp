// SPDX-License-Identifier: Apache-2.0
#include "ops/compare/compare.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> CompareOp::infer(std::span<const ValueType> inputs) const {
  const bool one = inputs.size() == 1 && inputs[In::a].dtype == DType::f32;
  const bool two = inputs.size() == 2 && inputs[In::a] == inputs[In::b] &&
                   (inputs[In::a].dtype == DType::f32 || inputs[In::a].dtype == DType::i32);
  require(one || two, "expected one f32 operand, or two of one shape, f32 or i32; got {}",
          to_string({"a", "b"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, inputs[In::a].shape}};
}

std::vector<Value> CompareOp::gradient(const GradientArgs& args) const {
  return std::vector<Value>(args.node.inputs.size());
}

void CompareOp::reference(const ReferenceArgs& args) const {
  with_comparison(attrs().kind, [&]<Comparison kKind>() {
    const double value = static_cast<float>(attrs().value);
    for (std::int64_t i = 0; i < args.in(In::a).shape.elements(); ++i) {
      const double b = args.inputs.size() > 1 ? args.in(In::b)[i] : value;
      args.out(Out::y)[i] = compare<kKind>(args.in(In::a)[i], b) ? 1 : 0;
    }
    return 0;
  });
}

void register_compare(OpRegistry& registry) { registry.add<CompareOp>(); }

}  // namespace linnet
