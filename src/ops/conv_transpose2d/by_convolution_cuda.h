// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/kernel.h"
#include "ops/conv_transpose2d/conv_transpose2d.h"

namespace linnet::cuda {

/// Returns a ConvTranspose2dOp's kernel: that of a convolution's input gradient, which it is, of
/// those that `convolutions` registers.
inline std::optional<Kernel> by_convolution(const NodeView& node, const Context& context,
                                            void (*convolutions)(Registry&)) {
  Registry registry;
  convolutions(registry);
  const Conv2dGradInputOp op(node.attrs<ConvTranspose2dOp>());
  return registry.prepare({op, node.inputs, node.outputs, node.output_read}, context);
}

}  // namespace linnet::cuda
