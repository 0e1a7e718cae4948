// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/kernel.h"
#include "ops/activation/activation.h"

namespace linnet::cuda {

/// An engine of a Conv2dOp's node with one operand more, the last: y = f(conv2d(...) + residual).
using PrepareResidual = std::optional<Kernel> (*)(const NodeView& node, const Context& context,
                                                  Activation activation);

/// Returns a Conv2dNormOp's kernel by `engine`, which takes Conv2dOps, on folded weights and bias.
/// Where these follow from weights that stay, they are folded once. In 16 bits the folded weights
/// are rounded, and the bias where the engine wants it so. A residual is added by `with_residual`
/// where that is given and takes it, else in a pass of its own. Null where the engine does not take
/// the convolution.
std::optional<Kernel> folded_conv2d(const NodeView& node, const Context& context, Prepare engine,
                                    PrepareResidual with_residual = nullptr);

}  // namespace linnet::cuda
