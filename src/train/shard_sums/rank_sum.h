// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/ranks.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/shard_layout.h"
#include "train/shard_sums/own_sum.h"

namespace linnet {

/// Sums what the shards of all ranks leave, where a shard leaves its results: each rank's own, then
/// these in the same binary tree.
class RankSum {
 public:
  virtual ~RankSum() = default;
  /// Runs what waits in the queue, this rank's shards and the sum. `shards`: those of all ranks.
  virtual void sum(ProgramQueue& queue, std::span<const ShardRows> shards,
                   const AddShards& add) = 0;
  /// Takes a step, whose programs come into an empty queue, with its finish to those that wait for
  /// run_joined(). Returns false where the host has to do with it: sum() is to be called then.
  virtual bool join(ProgramQueue& /*queue*/, std::span<const ShardRows> /*shards*/,
                    const AddShards& /*add*/, Program& /*finish*/) {
    return false;
  }
  virtual void run_joined() {}
};

/// Through the hosts, when all shards of a rank are done.
std::unique_ptr<RankSum> sum_on_hosts(const SumPlace& place, OwnSum& own, const Ranks& ranks);
/// Through the hosts, a bucket of gradients at a time, while the rank's only shard is computed,
/// which hands them over.
std::unique_ptr<RankSum> sum_in_buckets(const SumPlace& place, const Ranks& ranks,
                                        std::vector<Bucket> buckets);
/// From device to device where all ranks' devices are linked, which the first step finds out; else
/// on hosts. `shards`: those of a rank.
std::unique_ptr<RankSum> sum_over_links(const SumPlace& place, OwnSum& own, const Ranks& ranks,
                                        std::size_t shards);

/// What a rank's shards left, on its way through the hosts.
class HostExchange {
 public:
  HostExchange(const SumPlace& place, const Ranks& ranks);
  /// Sums over the ranks what their shards left from byte `begin` on, and their counters; `empty`:
  /// this one left nothing.
  void sum(std::size_t begin, const std::string& name, bool empty);
  /// Returns a part of what a shard leaves; of a device: room for it.
  std::span<float> part(const Bucket& bytes);
  const ShardLayout& layout() const { return layout_; }

 private:
  const Backend& backend_;
  std::shared_ptr<TrainingMemory> memory_;
  ShardLayout layout_;
  Ranks ranks_;
  std::vector<float> room_;  ///< of a device
};

/// Returns "the sum of gradients at step 7", as the error of a lost rank says.
std::string name_of_sum(const StepInfo& step);

}  // namespace linnet
