// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/ranks.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "dist/background_sum.h"
#include "model/leaf.h"
#include "model/session.h"
#include "plan/step_time.h"

namespace linnet {

/// Returns the shards of this rank where so many are asked for; 0: one for each rank. Throws Error
/// where there are fewer than ranks.
Shards own_shards(std::int64_t asked, const Ranks& ranks);

/// Returns how many leaves of a rank run at the same time: all of its own, or one. Throws Error
/// where TrainerOptions::side_by_side asks for what the device cannot do.
std::size_t lanes_of(const ModelState& model, const Shards& shards, const TrainerOptions& options);

/// Returns whether leaves run one after the other and may leave what they find where a sum waits
/// for its sibling (ProgramRecipe::apart), `leaves` of them in a step of this process; on the CPU.
bool leaves_apart(const ModelState& model, std::size_t lanes, std::uint64_t leaves);

/// Returns the slots of a ring that holds a leaf in each: so many are read ahead.
constexpr std::int64_t slots_of(std::int64_t prefetch, std::size_t lanes) {
  return prefetch + static_cast<std::int64_t>(lanes) - 1;
}

/// Returns where the leaf of a rank hands gradients over that are found (TrainingStep::handover);
/// null where it computes several leaves, whose sum it has only at the end, where all gradients are
/// one bucket, and on a device.
std::shared_ptr<SumHandover> handover_of(const TrainingMemory& memory, const ModelState& model,
                                         const Shards& shards, const TrainerOptions& options);

/// Returns who sums the statistics of batch norms (TrainingStep::norms); null unless
/// TrainerOptions::sync_batch_norm asks for it, there are norms, and several leaves. Throws Error
/// where these are not computed at the same time, or one has no rows of a batch of such a size.
std::shared_ptr<NormSync> norm_sync_of(const TrainingMemory& memory, const ModelState& model,
                                       const Shards& shards, const TrainerOptions& options,
                                       std::int64_t samples, std::int64_t batch);

/// Returns the leaves of a batch, which `batch` describes.
std::vector<LeafRows> shards_of(const LeafRows& batch, const Shards& shards);

/// Steps of several leaves each: the sum of what these leave, in a fixed binary tree over their
/// places (node = left + right, and a leaf without rows counts for nothing), and the finish.
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
  /// Adds the programs of leaves of this process to a queue; called in their order, with the first
  /// one's place among these. Several: at the same time, in lanes.
  using AddLeaves =
      std::function<void(ProgramQueue& queue, std::size_t leaf, std::span<const LeafRows> leaves)>;
  /// One step, which may wait for finish_queue() where no host has to do with it.
  void run(std::span<const LeafRows> leaves, const AddLeaves& add);
  void finish_queue();
  /// One step without its finish: leaves the sum where a leaf leaves its results.
  void add_up(std::span<const LeafRows> leaves, const AddLeaves& add);
  /// Returns how long a step takes beside its leaves' programs and what ranks exchange.
  double predicted_seconds(const DeviceRates& rates) const;

 private:
  /// Adds a step without its finish to the queue; what ranks exchange has happened.
  void queue_sum(std::span<const LeafRows> leaves, const AddLeaves& add);
  /// Adds what sums the leaves [first, first + 2^level) where there are such to the queue; keeps:
  /// in the room of that level. Returns whether any has rows.
  bool sum(std::span<const LeafRows> leaves, std::size_t first, std::size_t level,
           const AddLeaves& add, bool keeps = false);
  /// Does the same for the leaves of this rank.
  bool sum_own(std::span<const LeafRows> told, const AddLeaves& add);
  /// Does the same for leaves that run at the same time.
  bool sum_lanes(std::span<const LeafRows> own, const AddLeaves& add);
  /// Returns who sums the statistics of norms over all leaves, in their tree.
  std::function<void(std::span<double>, std::uint64_t)> norm_sum(const StepInfo& step);
  /// Sums what the ranks' leaves left from byte `begin` on, and their counters; `empty`: this one
  /// left nothing.
  void add_ranks(std::size_t begin, const std::string& name, bool empty);
  /// Returns the links between the ranks' devices, looked for once; null: there are none.
  DeviceLinks* links();
  /// Returns how these sum what the ranks' leaves left.
  std::vector<LinkedPart> linked_sum() const;
  /// Sums it so; `empty`: this one left nothing.
  void add_linked(DeviceLinks& links, const StepInfo& step, bool empty);
  /// Adds a step to those that wait for run_joined(), leaves, sum and finish; returns false where
  /// the host has to do with it.
  bool join(std::span<const LeafRows> leaves, const AddLeaves& add);
  void run_joined();
  /// Returns a part of what a leaf leaves; of a device: room for it.
  std::span<float> host_sums(const Bucket& part);
  /// Sums the gradients of the ranks' only leaves while they are found.
  void add_buckets(std::span<const LeafRows> told, const AddLeaves& add, const std::string& name);

  ModelState& model_;
  StepData data_;
  bool shuffle_;
  std::shared_ptr<TrainingMemory> memory_;
  Ranks ranks_;
  LeafLayout layout_;
  std::vector<float> sums_;  ///< of a device, on their way to other ranks
  std::shared_ptr<SumHandover> handover_;
  std::shared_ptr<NormSync> norms_;
  std::mutex given_mutex_;
  std::map<std::uint64_t, std::span<double>> given_;  ///< of a norm's leaves, by their first rows
  std::vector<Bucket> buckets_;
  std::unique_ptr<BackgroundSum> background_;  ///< null: sums begin after the leaves
  std::vector<CachedProgram*> keep_;           ///< by level of the tree; leaves may need none
  std::vector<CachedProgram*> add_;
  std::vector<CachedProgram*> add_kept_;
  CachedProgram* add_linked_ = nullptr;  ///< adds what a device got from another; null: none does
  LinkedSteps joined_;                   ///< that wait
  std::uint64_t first_joined_ = 0;       ///< the number of their first one
  std::size_t lanes_ = 1;
  bool apart_ = false;                  ///< leaves_apart()
  CachedProgram* add_lanes_ = nullptr;  ///< null: leaves run one after the other
  CachedProgram* finish_ = nullptr;
  ProgramQueue queue_;
};

}  // namespace linnet
