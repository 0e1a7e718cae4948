// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "ops/conv_transpose2d/conv_transpose2d.h"

namespace linnet::cuda {

void register_conv2d(Registry& registry);

namespace {

std::optional<Kernel> prepare(const NodeView& node, const Context& context) {
  Registry convolutions;
  register_conv2d(convolutions);
  const Conv2dGradInputOp op(node.attrs<ConvTranspose2dOp>());
  return convolutions.prepare({op, node.inputs, node.outputs, node.output_read}, context);
}

}  // namespace

void register_conv_transpose2d(Registry& registry) {
  registry.add(ConvTranspose2dOp::kName, prepare);
}

}  // namespace linnet::cuda
