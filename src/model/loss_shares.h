// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "graph/step.h"
#include "model/step_graph.h"

namespace linnet {

/// Returns which of StepInfo::shares a target's loss is multiplied with in a shard: the first one
/// where it is a mean over rows; one of its own where labels, or weights, say how much each row
/// counts. Throws Error for more such losses than there are shares.
std::size_t share_of(const StepData& data, std::size_t target);

/// Returns what the losses over `count` rows from step.position on divide by, in the order of the
/// shares. shuffle: whether they are rows of the epoch's order, not of the data's.
std::array<double, kShares> denominators(const StepData& data, const StepInfo& step,
                                         std::uint64_t count, bool shuffle);

/// Returns what a target's samples, or their steps, count together by weights and lengths, of all
/// samples.
double counted_weight(const StepData& data, std::size_t target);

}  // namespace linnet
