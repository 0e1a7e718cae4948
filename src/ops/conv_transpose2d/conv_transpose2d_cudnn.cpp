// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "ops/conv_transpose2d/conv_transpose2d.h"

namespace linnet::cuda {

void register_conv2d_cudnn(Registry& registry);

namespace {

std::optional<Kernel> prepare(const NodeView& node, const Context& context) {
  Registry convolutions;
  register_conv2d_cudnn(convolutions);
  const Conv2dGradInputOp op(node.attrs<ConvTranspose2dOp>());
  return convolutions.prepare({op, node.inputs, node.outputs, node.output_read}, context);
}

}  // namespace

void register_conv_transpose2d_cudnn(Registry& registry) {
  registry.add_library(ConvTranspose2dOp::kName, "cudnn", prepare);
}

}  // namespace linnet::cuda
