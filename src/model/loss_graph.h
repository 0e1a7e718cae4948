// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include "graph/graph.h"

namespace linnet {

/// Adds the mean loss of outputs `y` (N, ...) against `target`: labels i32 (N) for cross-entropy,
/// else values of y's shape. Any Loss but automatic. Returns a scalar.
Value add_loss(Graph& graph, Loss loss, Value y, Value target);

}  // namespace linnet
