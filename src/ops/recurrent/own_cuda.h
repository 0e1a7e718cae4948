// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/kernel.h"

namespace linnet::cuda {

/// Returns Linnet's own kernels of a recurrent and a recurrent_grad, which take every operand: what
/// cuDNN's are measured against.
Kernel own_recurrent(const NodeView& node);
Kernel own_recurrent_gradient(const NodeView& node);

}  // namespace linnet::cuda
