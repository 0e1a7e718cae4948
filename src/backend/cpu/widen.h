// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace linnet::cpu {

/// Gives all values of f32 the type f64, but for the records that are gathered from a data set,
/// which lie there as they are: a graph of Numbers::f64. Operators still infer f32.
void widen(Graph& graph);

}  // namespace linnet::cpu
