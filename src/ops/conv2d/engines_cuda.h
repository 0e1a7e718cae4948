// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/kernel.h"
#include "ops/activation/activation.h"

namespace linnet::cuda {

// Engines of a Conv2dOp's node, also for operators that contain one; null where they don't take it.

std::optional<Kernel> own_conv2d(const NodeView& node, const Context& context);
std::optional<Kernel> cudnn_conv2d(const NodeView& node, const Context& context);

/// cuDNN's engine of such a node with one operand more, the last: y = f(conv2d(...) + residual).
/// In TF32, or where all are stored in the 16 bits that tensor cores take; without an activation or
/// with a ReLU.
std::optional<Kernel> cudnn_conv2d_residual(const NodeView& node, const Context& context,
                                            Activation activation);

}  // namespace linnet::cuda
