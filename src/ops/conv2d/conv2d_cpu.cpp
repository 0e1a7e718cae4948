// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const Conv2dAttrs& attrs = node.attrs<Conv2dOp>();
  const ConvShape s = conv_shape(attrs, node.in(0), node.in(1), "");
  return im2col_engine().forward(s, {attrs.bias, attrs.activation});
}

std::optional<Kernel> prepare_grad_input(const NodeView& node) {
  const auto& op = static_cast<const Conv2dGradInputOp&>(node.op);
  return im2col_engine().grad_input(op.shape(node.in(0), node.in(1)));
}

std::optional<Kernel> prepare_grad_weight(const NodeView& node) {
  const auto& op = static_cast<const Conv2dGradWeightOp&>(node.op);
  return im2col_engine().grad_weight(op.shape(node.in(0), node.in(1)));
}

}  // namespace

void register_conv2d(Registry& registry) {
  registry.add(Conv2dOp::kName, prepare_forward);
  registry.add(Conv2dGradInputOp::kName, prepare_grad_input);
  registry.add(Conv2dGradWeightOp::kName, prepare_grad_weight);
}

}  // namespace linnet::cpu
