// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_transpose2d/by_convolution_cuda.h"

namespace linnet::cuda {

void register_conv2d(Registry& registry);

void register_conv_transpose2d(Registry& registry) {
  const auto prepare = [](const NodeView& node, const Context& context) {
    return by_convolution(node, context, register_conv2d);
  };
  registry.add(ConvTranspose2dOp::kName, prepare);
}

}  // namespace linnet::cuda
