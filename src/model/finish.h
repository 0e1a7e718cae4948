// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/leaf.h"
#include "ops/metrics/metrics.h"
#include "ops/optimizer_update/optimizer_update.h"

namespace linnet {

/// Of the counters in a model's Storage::state: where add_stopped() lies, and how many bytes all
/// have.
inline constexpr std::size_t kStoppedOffset = sizeof(double) * (kCounters + kLossHistory);
inline constexpr std::size_t kCounterBytes = kStoppedOffset + sizeof(double);

/// All parameters, or their gradients, in one array.
ValueType flat_type(const NetworkDefinition& network);

/// The model's counters, and the losses of `history` steps.
Value add_counters(Graph& graph, const NetworkDefinition& network, std::int64_t history);
/// The step, counted from 1, at which a training met something that was not finite; 0: none.
Value add_stopped(Graph& graph, const NetworkDefinition& network);

/// A moving average of the weights.
struct WeightAverage {
  double decay = 0;  ///< 0: none is kept
  bool warmup = false;
  bool operator==(const WeightAverage&) const = default;
};

/// What ends a step over one leaf or several, by what lies in the places of the leaf: checks that
/// all of it and the loss (if given) are finite, then the running statistics, norm, clipping,
/// update and average.
void add_finish(Graph& graph, const NetworkDefinition& network, const OptimizerAttrs& optimizer,
                const WeightAverage& average, const std::vector<MeasuredStatistics>& measured,
                Value loss = {});

/// The finish of a batch of several leaves, with their metrics.
Graph finish_step(const NetworkDefinition& network, const OptimizerAttrs& optimizer,
                  const WeightAverage& average, const std::vector<MeasuredStatistics>& measured);

/// Keeps what the last leaf has left, or the sum of leaves that ends with it, in a level's room.
Graph keep_step(const NetworkDefinition& network, std::size_t level);
/// Adds what is kept there to what the last leaf has left: the leaves before it come first.
Graph add_step(const NetworkDefinition& network, std::size_t level);

}  // namespace linnet
