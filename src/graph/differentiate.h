// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace linnet {

/// Appends to `graph` the nodes that compute d(loss)/d(w) for every value of `wrt`, in reverse
/// mode. loss: a scalar f32. Returns one gradient per `wrt`, empty where the loss does not depend
/// on it. Nodes that lead to no value of `wrt` get no gradient nodes.
std::vector<Value> differentiate(Graph& graph, Value loss, std::span<const Value> wrt);

/// Returns the same from given gradients of several outputs.
std::vector<Value> differentiate(Graph& graph, std::span<const Value> outputs,
                                 std::span<const Value> output_gradients,
                                 std::span<const Value> wrt);

/// Returns by the ids of the graph's values: whether they depend on one of `wrt`.
std::vector<bool> dependents(const Graph& graph, std::span<const Value> wrt);

}  // namespace linnet
