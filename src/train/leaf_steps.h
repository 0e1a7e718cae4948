// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/ranks.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dist/background_sum.h"
#include "model/leaf.h"
#include "model/session.h"
#include "plan/step_time.h"

namespace linnet {

/// One leaf of a step: rows of the data, or none.
struct LeafRows {
  StepInfo step;  ///< its position and epoch; what the leaves share is set by LeafSteps
  std::uint64_t rows = 0;
};

/// Returns the shards of this rank where so many are asked for; 0: one for each rank. Throws Error
/// where there are fewer than ranks.
Shards own_shards(std::int64_t asked, const Ranks& ranks);

/// Returns where the leaf of a rank hands gradients over that are found (TrainingStep::handover);
/// null where it computes several leaves, whose sum it has only at the end, where all gradients are
/// one bucket, and on a device.
std::shared_ptr<SumHandover> handover_of(const TrainingMemory& memory, const ModelState& model,
                                         const Shards& shards, const TrainerOptions& options);

/// Returns who sums the statistics of batch norms (TrainingStep::norms); null unless
/// TrainerOptions::sync_batch_norm asks for it, there are norms, and several ranks. Throws Error
/// where a rank does not have exactly one leaf, with rows, of every batch of such a size.
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
  /// after this. most: leaves of a step. shuffle: whether rows are in the epoch's order.
  /// ranks: those that compute the other leaves.
  LeafSteps(Session& session, ModelState& model, const std::string& key, const StepData& data,
            const TrainingStep& step, std::shared_ptr<TrainingMemory> memory, std::uint64_t most,
            bool shuffle, const Ranks& ranks = {});

  /// Returns what each leaf's program is told.
  std::vector<LeafRows> told(std::span<const LeafRows> leaves) const;
  /// Runs the program of a leaf of this process; called in their order, with its place among these.
  using RunLeaf = std::function<void(std::size_t leaf, const LeafRows& rows)>;
  /// One step.
  void run(std::span<const LeafRows> leaves, const RunLeaf& run);
  /// One step without its finish: leaves the sum where a leaf leaves its results.
  void add_up(std::span<const LeafRows> leaves, const RunLeaf& run);
  /// Returns how long a step takes beside its leaves' programs and what ranks exchange.
  double predicted_seconds(const DeviceRates& rates) const;

 private:
  /// Sums the leaves [first, first + 2^level) where there are such; returns whether any has rows.
  bool sum(std::span<const LeafRows> leaves, std::size_t first, std::size_t level,
           const RunLeaf& run);
  /// Sums the leaves of this rank; returns whether any has rows.
  bool sum_own(std::span<const LeafRows> told, const RunLeaf& run);
  /// Sums what the ranks' leaves left from byte `begin` on, and their counters; `empty`: this one
  /// left nothing.
  void add_ranks(std::size_t begin, const std::string& name, bool empty);
  /// Does the same from byte 0 on over links between the devices, where there are such; returns
  /// whether there are.
  bool add_linked(const StepInfo& step, const std::string& name, bool empty);
  /// Returns a part of what a leaf leaves; of a device: room for it.
  std::span<float> host_sums(const Bucket& part);
  /// Sums the gradients of the ranks' only leaves while they are found.
  void add_buckets(std::span<const LeafRows> told, const RunLeaf& run, const std::string& name);

  ModelState& model_;
  StepData data_;
  bool shuffle_;
  std::shared_ptr<TrainingMemory> memory_;
  Ranks ranks_;
  LeafLayout layout_;
  std::vector<float> sums_;  ///< of a device, on their way to other ranks
  std::shared_ptr<SumHandover> handover_;
  std::shared_ptr<NormSync> norms_;
  std::vector<Bucket> buckets_;
  std::unique_ptr<BackgroundSum> background_;  ///< null: sums begin after the leaves
  std::vector<CachedProgram*> keep_;           ///< by level of the tree
  std::vector<CachedProgram*> add_;
  CachedProgram* add_linked_ = nullptr;  ///< adds what a device got from another; null: none does
  CachedProgram* finish_ = nullptr;
};

}  // namespace linnet
