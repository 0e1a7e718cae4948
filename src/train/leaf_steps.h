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
#include "train/leaf_sums/norm_sums.h"
#include "train/leaf_sums/own_sum.h"
#include "train/leaf_sums/rank_sum.h"

namespace linnet {

/// Steps of several leaves each: the sum of what these leave, on this process (OwnSum) and over
/// the ranks (RankSum), and the finish.
class LeafSteps {
 public:
  /// Adds its programs to the session; the leaves' pass is the caller's. Session::attach() comes
  /// after this. most: leaves of a step. lanes: how many of these run at the same time (lanes_of).
  /// shuffle: whether rows are in the epoch's order. ranks: those that compute the other leaves.
  LeafSteps(Session& session, ModelState& model, const std::string& key, const StepData& data,
            const TrainingStep& step, std::shared_ptr<TrainingMemory> memory, std::uint64_t most,
            std::size_t lanes, bool shuffle, const Ranks& ranks = {});

  /// Returns what each leaf's program is told.
  std::vector<LeafRows> told(std::span<const LeafRows> leaves) const;
  /// One step, which may wait for finish_queue() where no host has to do with it.
  void run(std::span<const LeafRows> leaves, const AddLeaves& add);
  void finish_queue();
  /// One step without its finish: leaves the sum where a leaf leaves its results.
  void add_up(std::span<const LeafRows> leaves, const AddLeaves& add);
  /// Returns how long a step takes beside its leaves' programs and what ranks exchange.
  double predicted_seconds(const DeviceRates& rates) const;

 private:
  /// Adds a step without its finish to the queue; what ranks exchange has happened.
  void queue_sum(std::span<const LeafRows> told, const AddLeaves& add);

  ModelState& model_;
  StepData data_;
  bool shuffle_;
  std::unique_ptr<OwnSum> own_;
  std::unique_ptr<RankSum> ranks_;   ///< null: no others
  std::unique_ptr<NormSums> norms_;  ///< null: statistics are each leaf's own
  CachedProgram* finish_;
  ProgramQueue queue_;
};

}  // namespace linnet
