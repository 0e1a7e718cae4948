// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_transpose2d/conv_transpose2d.h"

#include "backend/cpu/kernel.h"

namespace linnet::cpu {

void register_conv2d(Registry& registry);

namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  Registry convolutions;
  register_conv2d(convolutions);
  const Conv2dGradInputOp op(node.attrs<ConvTranspose2dOp>());
  return convolutions.prepare({op, node.inputs, node.outputs, node.output_read});
}

}  // namespace

void register_conv_transpose2d(Registry& registry) {
  registry.add_product(ConvTranspose2dOp::kName, prepare);
}

}  // namespace linnet::cpu
