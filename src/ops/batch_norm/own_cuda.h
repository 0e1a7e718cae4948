// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/kernel.h"

namespace linnet::cuda {

/// Returns Linnet's own kernels of a batch_norm and a batch_norm_grad, which take every operand:
/// what cuDNN's are measured against.
Kernel own_batch_norm(const NodeView& node);
Kernel own_batch_norm_gradient(const NodeView& node);

/// Copies `mean` and `var` (channels) to a batch_norm's running statistics.
void enqueue_running_statistics(const Args& args, const float* mean, const float* var,
                                std::int64_t channels);

}  // namespace linnet::cuda
