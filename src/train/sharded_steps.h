// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/ranks.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/session.h"
#include "train/shard_sums/norm_sums.h"
#include "train/shard_sums/own_sum.h"
#include "train/shard_sums/rank_sum.h"

namespace linnet {

/// Steps of several shards each: the sum of what these leave, on this process (OwnSum) and over
/// the ranks (RankSum), and the finish.
class ShardedSteps {
 public:
  /// Adds its programs to the session; the shards' pass is the caller's. Session::attach() comes
  /// after this. most: shards of a step. lanes: how many of these run at the same time (lanes_of).
  /// shuffle: whether rows are in the epoch's order. ranks: those that compute the other shards.
  ShardedSteps(Session& session, ModelState& model, const std::string& key, const StepData& data,
               const TrainingStep& step, std::shared_ptr<TrainingMemory> memory, std::uint64_t most,
               std::size_t lanes, bool shuffle, const Ranks& ranks = {});

  /// Returns what each shard's program is told.
  std::vector<ShardRows> told(std::span<const ShardRows> shards) const;
  /// One step, which may wait for finish_queue() where no host has to do with it.
  void run(std::span<const ShardRows> shards, const AddShards& add);
  void finish_queue();
  /// One step without its finish: leaves the sum where a shard leaves its results.
  void add_up(std::span<const ShardRows> shards, const AddShards& add);
  /// Returns how long a step takes beside its shards' programs and what ranks exchange.
  double predicted_seconds(const DeviceRates& rates) const;

 private:
  /// Adds a step without its finish to the queue; what ranks exchange has happened.
  void queue_sum(std::span<const ShardRows> told, const AddShards& add);

  ModelState& model_;
  StepData data_;
  bool shuffle_;
  std::unique_ptr<OwnSum> own_;
  std::unique_ptr<RankSum> ranks_;   ///< null: no others
  std::unique_ptr<NormSums> norms_;  ///< null: statistics are each shard's own
  CachedProgram* finish_;
  ProgramQueue queue_;
};

}  // namespace linnet
