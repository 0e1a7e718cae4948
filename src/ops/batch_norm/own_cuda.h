// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "backend/cuda/kernel.h"

namespace linnet::cuda {

/// Returns Linnet's own kernels of a batch_norm and a batch_norm_grad, which cuDNN's are measured
/// against. Null where activations are not stored alike.
std::optional<Kernel> own_batch_norm(const NodeView& node, const Context& context);
std::optional<Kernel> own_batch_norm_gradient(const NodeView& node, const Context& context);

/// Images of 32 MiB: from here on cuDNN's batch norms are asked for. A plan is compiled for up to a
/// second at every start, which smaller ones, of a few microseconds a step, would hardly win back.
inline constexpr std::int64_t kLeastForCudnn = std::int64_t{1} << 23;

/// Copies `mean` and `var` (channels) to a batch_norm's running statistics.
void enqueue_running_statistics(const Args& args, const float* mean, const float* var,
                                std::int64_t channels);

}  // namespace linnet::cuda
