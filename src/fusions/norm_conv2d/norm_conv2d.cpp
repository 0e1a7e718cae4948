// SPDX-License-Identifier: Apache-2.0
#include "fusions/norm_conv2d/norm_conv2d.h"

#include <array>

#include "graph/registry.h"

namespace linnet {
namespace {

constexpr std::size_t kOperands = 6;

/// Returns the type of what the convolution reads.
ValueType normal_type(const NormConv2dAttrs& attrs, std::span<const ValueType> inputs) {
  require(inputs.size() == kOperands, "expected {} operands; got {}", kOperands, inputs.size());
  using In = NormConv2dOp::In;  // the gradient's have the same places
  const std::array<ValueType, 5> operands{inputs[In::x], inputs[In::gamma], inputs[In::beta],
                                          inputs[In::mean], inputs[In::inv_std]};
  return BatchNormAgainOp(attrs.norm()).infer(operands).front();
}

/// Returns what the convolution reads.
ReferenceTensor normal_of(const NormConv2dAttrs& attrs, const ReferenceArgs& args) {
  using In = NormConv2dOp::In;
  std::vector<ReferenceTensor*> operands;
  std::vector<ValueType> types;
  for (const In i : {In::x, In::gamma, In::beta, In::mean, In::inv_std}) {
    operands.push_back(&args.in(i));
    types.push_back({DType::f32, args.in(i).shape});
  }
  const BatchNormAgainOp norm(attrs.norm());
  ReferenceTensor normal;
  normal.shape = norm.infer(types).front().shape;
  normal.data.resize(static_cast<std::size_t>(normal.shape.elements()));
  ReferenceTensor* result = &normal;
  norm.reference({operands, {&result, 1}, args.step});
  return normal;
}

/// Returns a convolution's cost with the norm's.
Cost with_norm(Cost cost, const ValueType& normal) {
  cost.flops += 4.0 * static_cast<double>(normal.shape.elements());
  return cost;
}

const Conv2dGradWeightOp& plain_gradient() {
  static const Conv2dGradWeightOp op({.conv = {}, .kernel_h = 1, .kernel_w = 1});
  return op;
}

}  // namespace

std::vector<ValueType> NormConv2dOp::infer(std::span<const ValueType> inputs) const {
  const ValueType normal = normal_type(attrs(), inputs);
  const Shape& w = inputs[In::w].shape;
  require(w.rank() == 4 && w[1] == 1 && w[2] == 1, "expected w (C_out, 1, 1, C); got {}",
          to_string(w));
  const std::array<ValueType, 2> operands{normal, inputs[In::w]};
  return Conv2dOp().infer(operands);
}

void NormConv2dOp::reference(const ReferenceArgs& args) const {
  ReferenceTensor normal = normal_of(attrs(), args);
  const std::array<ReferenceTensor*, 2> operands{&normal, &args.in(In::w)};
  Conv2dOp().reference({operands, args.outputs, args.step});
}

Cost NormConv2dOp::cost(std::span<const ValueType> inputs,
                        std::span<const ValueType> outputs) const {
  const ValueType normal = normal_type(attrs(), inputs);
  const std::array<ValueType, 2> operands{normal, inputs[In::w]};
  return with_norm(Conv2dOp().cost(operands, outputs), normal);
}

std::vector<ValueType> NormConv2dGradWeightOp::infer(std::span<const ValueType> inputs) const {
  const std::array<ValueType, 2> operands{normal_type(attrs(), inputs), inputs[In::dz]};
  return plain_gradient().infer(operands);
}

void NormConv2dGradWeightOp::reference(const ReferenceArgs& args) const {
  ReferenceTensor normal = normal_of(attrs(), args);
  const std::array<ReferenceTensor*, 2> operands{&normal, &args.in(In::dz)};
  plain_gradient().reference({operands, args.outputs, args.step});
}

Cost NormConv2dGradWeightOp::cost(std::span<const ValueType> inputs,
                                  std::span<const ValueType> outputs) const {
  const ValueType normal = normal_type(attrs(), inputs);
  const std::array<ValueType, 2> operands{normal, inputs[In::dz]};
  return with_norm(plain_gradient().cost(operands, outputs), normal);
}

void register_norm_conv2d(OpRegistry& registry) {
  registry.add<NormConv2dOp>();
  registry.add<NormConv2dGradWeightOp>();
}

}  // namespace linnet
