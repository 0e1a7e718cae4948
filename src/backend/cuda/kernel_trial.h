// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/kernel.h"

namespace linnet::cuda {

/// Whether `candidate` leaves the numbers of `own` (differences up to 1e-3 of an operand's largest)
/// on pseudo-random f32 operands of the node, also where the first output lies upon an input that
/// the operator allows. Compared is all that is written: outputs, and inputs that are mutated.
/// Throws Error where one of them fails.
bool same_results(const Kernel& candidate, const Kernel& own, const NodeView& node,
                  cudaStream_t stream);

/// Whether `candidate` takes less than nine tenths of `own`'s time, both captured in CUDA graphs.
/// Throws Error where one of them fails.
bool is_faster(const Kernel& candidate, const Kernel& own, const NodeView& node,
               cudaStream_t stream);

/// Both; false where one fails or memory for the operands is missing. Takes milliseconds and waits
/// for the device. `stream` may not be the legacy default one.
bool may_replace(const Kernel& candidate, const Kernel& own, const NodeView& node,
                 cudaStream_t stream);

}  // namespace linnet::cuda
