// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "backend/cuda/kernel.h"

namespace linnet::cuda {

struct TrialOptions {
  /// Range of the pseudo-random operands.
  float least = -0.5F;
  float most = 1.5F;
  /// Differences that are allowed, of an operand's largest magnitude.
  double tolerance = 1e-3;
  bool repeats = true;  ///< whether the candidate has to give the same bits when it runs again
};

/// Returns whether `candidate` leaves the numbers of `own` on operands of the node as they are
/// stored, up to rounding (of large results, at both ends). Throws Error where one of them fails.
bool same_results(const Kernel& candidate, const Kernel& own, const NodeView& node,
                  cudaStream_t stream, const TrialOptions& options = {});

/// Returns whether `candidate` takes less time than `own` by more than timers' noise, both captured
/// in CUDA graphs. Throws Error where one of them fails.
bool is_faster(const Kernel& candidate, const Kernel& own, const NodeView& node,
               cudaStream_t stream, const TrialOptions& options = {});

/// Both; null where one fails or memory for the operands is missing. Takes milliseconds and waits
/// for the device. `stream` may not be the legacy default one.
std::optional<bool> may_replace(const Kernel& candidate, const Kernel& own, const NodeView& node,
                                cudaStream_t stream, const TrialOptions& options = {});

/// Runs a kernel on operands of its own, so that what a library loads or allocates at its first
/// call is there before anyone captures one. Throws Error where it fails or memory is missing.
void run_once(const Kernel& kernel, const NodeView& node, cudaStream_t stream);

}  // namespace linnet::cuda
