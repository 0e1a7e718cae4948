// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

// What weighs the samples of a batch, f32 (N), or their steps, (N, T): here stands all that a
// weighted loss divides by.

/// weights / sum(weights * counts), 0 where that sum is 0; without `counts` all count once.
Value shares_of(Graph& graph, Value weights, Value counts = {});

/// x (N, ...), each element times its sample's (or step's) share.
Value times_shares(Graph& graph, Value x, Value shares);

/// Returns the sum over the samples (or steps) of share * mean over what x (N, ...) has of it: a
/// scalar. An x that is NaN or infinite counts for nothing where the share is 0. Throws Error
/// unless x begins with the shares' axes.
Value weighted_mean(Graph& graph, Value x, Value shares);

/// Returns the weights of targets (N, ...) of this shape: the sample's or step's of `weights`, or
/// 1, (N,
/// ...).
Value element_weights(Graph& graph, const Shape& shape, Value weights = {});

/// Returns the weights of the steps of targets (N, T, ...) that have lengths i32 (N): 1, or the
/// sample's or step's of `weights`, and 0 after the sequence's end.
Value step_weights(Graph& graph, Value lengths, std::int64_t steps, Value weights = {});

}  // namespace linnet
