// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include "graph/graph.h"

namespace linnet {

/// Adds the user's loss of outputs `y` (N, ...) against `target`: values f32, or labels i32 (N),
/// which it gets one-hot, (N, classes). Returns a scalar, the mean of what the function returns.
Value add_custom_loss(Graph& graph, const CustomLoss& loss, Value y, Value target);

}  // namespace linnet
