// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/kernel.h"

namespace linnet::cuda {

/// Range of a trial's pseudo-random operands. (Variances may be below 0.)
struct TrialRange {
  float least = -0.5F;
  float most = 1.5F;
};

/// Returns whether `candidate` leaves the numbers of `own` (differences up to 1e-3 of an operand's
/// largest) on f32 operands of the node, also where the first output lies upon an input that the
/// operator allows, and the same bits when it runs again. Compared is all that is written: outputs,
/// and inputs that are mutated. Throws Error where one of them fails.
bool same_results(const Kernel& candidate, const Kernel& own, const NodeView& node,
                  cudaStream_t stream, TrialRange range = {});

/// Returns whether `candidate` takes less than nine tenths of `own`'s time, both captured in CUDA
/// graphs. Throws Error where one of them fails.
bool is_faster(const Kernel& candidate, const Kernel& own, const NodeView& node,
               cudaStream_t stream, TrialRange range = {});

/// Both; false where one fails or memory for the operands is missing. Takes milliseconds and waits
/// for the device. `stream` may not be the legacy default one.
bool may_replace(const Kernel& candidate, const Kernel& own, const NodeView& node,
                 cudaStream_t stream, TrialRange range = {});

/// Runs a kernel on operands of its own, so that what a library loads or allocates at its first
/// call is there before anyone captures one. Throws Error where it fails or memory is missing.
void run_once(const Kernel& kernel, const NodeView& node, cudaStream_t stream);

}  // namespace linnet::cuda
