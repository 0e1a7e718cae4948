// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/kernel.h"

namespace linnet::cuda {

/// Returns Linnet's own kernels of a recurrent and a recurrent_grad, which take every operand,
/// never null: what cuDNN's are measured against.
std::optional<Kernel> own_recurrent(const NodeView& node, const Context& context);
std::optional<Kernel> own_recurrent_gradient(const NodeView& node, const Context& context);

}  // namespace linnet::cuda
