// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cpu/kernel.h"
#include "ops/recurrent/recurrent.h"

namespace linnet::cpu {

/// Whether tasks should share each step of a prediction: there are too few samples for a task each,
/// and the weights are so large that reading them takes longer than waiting for each other.
bool shares_steps(const RecurrentShape& shape);

/// RecurrentOp without `saved`: a stage for each step, whose tasks compute some units each, so that
/// their weights stay in as many caches. The same bits as the kernel whose tasks take all steps.
Kernel shared_steps(const RecurrentShape& shape, bool bias, bool y_read);

}  // namespace linnet::cpu
