// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/align.h"
#include "model/shard_layout.h"
#include "ops/metrics/metrics.h"
#include "ops/optimizer_update/optimizer_update.h"

namespace linnet {

// A training's Storage::optimizer: counters, the losses of its newest steps, add_stopped(), then
// of each objective its loss's scale and the moments, laid out as the weights. Nothing of it is
// another training's.

/// Where add_stopped() lies, and where the first objective's moments begin.
inline constexpr std::size_t kStoppedOffset = sizeof(double) * (kCounters + kLossHistory);
inline constexpr std::size_t kLossScaleBytes = align_up(sizeof(float) * kLossScaleSize);
inline constexpr std::size_t kMomentsOffset =
    align_up(kStoppedOffset + sizeof(double)) + kLossScaleBytes;

/// Returns all parameters, or their gradients, in one array.
ValueType flat_type(const NetworkDefinition& network);

/// Returns the counters of a training, and the losses of its newest kLossHistory steps.
Value add_training_counters(Graph& graph);
/// Returns the step, counted from 1, at which a training met something that was not finite; 0:
/// none.
Value add_stopped(Graph& graph);

/// A moving average of the weights.
struct WeightAverage {
  double decay = 0;  ///< 0: none is kept
  bool warmup = false;
  bool operator==(const WeightAverage&) const = default;
};

/// Weights that training goes back to; see Lookahead.
struct WeightLookahead {
  std::int64_t every = 0;  ///< 0: none are kept
  double alpha = 0.5;
  bool operator==(const WeightLookahead&) const = default;
};

struct TrainingStep {
  std::int64_t batch = 128;
  bool shuffle = true;
  OptimizerAttrs optimizer;
  WeightAverage average = {};
  WeightLookahead lookahead = {};
  /// Where the moments begin, after the scale; then come lookahead's weights, then the average.
  std::size_t moments = kMomentsOffset;
  std::vector<std::string> disabled_passes = {};
  bool recompute = false;        ///< TrainerOptions::recompute
  bool overlap_sums = false;     ///< sums gradients over the ranks while a shard still finds others
  std::size_t bucket_bytes = 0;  ///< that are summed at a time: gradient_buckets()
  bool sync_norms = false;  ///< statistics of batch norms are of the whole batch, not a shard's
};

/// Returns the scale itself, f32 (), which the loss is multiplied with (LossScaleOp).
Value add_loss_scale(Graph& graph, const TrainingStep& step);

/// Adds the end of a step over one shard or several, by the shard's results: checks that
/// all of it and the loss (if given) are finite, then the running statistics, norm, clipping,
/// update, lookahead and average. scaled: whether the gradients are add_loss_scale() times too
/// large.
void add_finish(Graph& graph, const NetworkDefinition& network, const TrainingStep& step,
                const std::vector<MeasuredStatistics>& measured, bool scaled, Value loss = {});

/// Returns the finish of a batch of several shards, with their metrics.
Graph finish_step(const NetworkDefinition& network, const TrainingStep& step,
                  const std::vector<MeasuredStatistics>& measured, bool scaled);

/// Keeps what the last shard has left, or the sum of shards that ends with it, in a level's room.
Graph keep_step(const NetworkDefinition& network, std::size_t level);
/// Adds what is kept there to what the last shard has left: the shards before it come first.
Graph add_step(const NetworkDefinition& network, std::size_t level);
/// Does the same into the room of the next level, where it is kept.
Graph add_kept_step(const NetworkDefinition& network, std::size_t level);
/// Adds what a number of shards have left, each ShardLayout::level(0) bytes after the one before,
/// in the tree of keep_step() and add_step().
Graph add_lanes_step(const NetworkDefinition& network, std::size_t lanes);

}  // namespace linnet
