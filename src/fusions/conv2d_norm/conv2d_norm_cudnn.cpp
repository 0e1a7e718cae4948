// SPDX-License-Identifier: Apache-2.0
#include "fusions/conv2d_norm/conv2d_norm.h"
#include "fusions/conv2d_norm/folded_cuda.h"
#include "ops/conv2d/engines_cuda.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare(const NodeView& node, const Context& context) {
  return folded_conv2d(node, context, cudnn_conv2d, cudnn_conv2d_residual);
}

}  // namespace

void register_conv2d_norm_cudnn(Registry& registry) {
  registry.add_library(Conv2dNormOp::kName, "cudnn", prepare, Stores::half);
}

}  // namespace linnet::cuda
