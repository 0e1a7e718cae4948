// SPDX-License-Identifier: Apache-2.0
#include "fusions/conv2d_norm/conv2d_norm.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> Conv2dNormOp::infer(std::span<const ValueType> inputs) const {
  require(attrs().conv.activation == Activation::none,
          "expected no activation between the convolution and the norm; got {}",
          enum_names(attrs().conv.activation)[static_cast<std::size_t>(attrs().conv.activation)]);
  require(inputs.size() >= conv_operands(), "expected x, w{} and the norm's operands; got {}",
          attrs().conv.bias ? ", b" : "", to_string({}, {inputs.begin(), inputs.end()}));
  std::vector<ValueType> norm = Conv2dOp(attrs().conv).infer(inputs.first(conv_operands()));
  const auto rest = inputs.subspan(conv_operands());
  norm.insert(norm.end(), rest.begin(), rest.end());
  return BatchNormInferenceOp(attrs().norm).infer(norm);
}

void Conv2dNormOp::reference(const ReferenceArgs& args) const {
  ReferenceTensor z = args.out(Out::y);
  std::vector<ReferenceTensor*> outputs{&z};
  Conv2dOp(attrs().conv).reference({args.inputs.first(conv_operands()), outputs, args.step});
  std::vector<ReferenceTensor*> norm{&z};
  const auto rest = args.inputs.subspan(conv_operands());
  norm.insert(norm.end(), rest.begin(), rest.end());
  BatchNormInferenceOp(attrs().norm).reference({norm, args.outputs, args.step});
}

Cost Conv2dNormOp::cost(std::span<const ValueType> inputs,
                        std::span<const ValueType> outputs) const {
  Cost cost = Conv2dOp(attrs().conv).cost(inputs.first(conv_operands()), outputs);
  for (const ValueType& type : inputs.subspan(conv_operands())) {
    cost.bytes += static_cast<double>(type.bytes());
  }
  return cost;
}

void register_conv2d_norm(OpRegistry& registry) { registry.add<Conv2dNormOp>(); }

}  // namespace linnet
