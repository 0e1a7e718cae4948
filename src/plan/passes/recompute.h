// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "graph/graph.h"

namespace linnet {

/// Lets the nodes from `backward` on read values that are cheap to compute, i.e. results of
/// concatenations, batch norms and activations, from a second run of their nodes right before the
/// first of them, so that these values need no memory in between. The same kernels on the same
/// operands give the same bits. Batch norms must write no running statistics but those of the batch
/// (momentum 1), which the second run writes again. Returns where `value` is in the new graph.
Value recompute(Graph& graph, std::size_t backward, Value value);

}  // namespace linnet
