// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/passes/passes.h"

namespace linnet {

/// Lets the backward pass read all values that are cheap to compute, i.e. results of
/// concatenations, batch norms and activations, from a second run of their nodes right before the
/// first reader, so that these values need no memory in between. The same kernels on the same
/// operands give the same bits. Batch norms must write no running statistics but those of the batch
/// (momentum 1), which a second run writes again. Concatenations that share_concats() joins are
/// left to it.
void recompute(TrainingGraph& training, const Supports& supports);

}  // namespace linnet
