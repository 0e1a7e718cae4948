// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/ranks.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/leaf.h"
#include "model/session.h"

namespace linnet {

/// One leaf of a step: rows of the data, or none.
struct LeafRows {
  StepInfo step;  ///< its position and epoch; what the leaves share is set by LeafSteps
  std::uint64_t rows = 0;
};

/// Returns the shards of this rank where so many are asked for; 0: one for each rank. Throws Error
/// where there are fewer than ranks.
Shards own_shards(std::int64_t asked, const Ranks& ranks);

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

 private:
  /// Sums the leaves [first, first + 2^level) where there are such; returns whether any has rows.
  bool sum(std::span<const LeafRows> leaves, std::size_t first, std::size_t level,
           const RunLeaf& run);
  /// Adds the sums of all ranks; `empty`: this one has none.
  void add_ranks(const StepInfo& step, bool empty);

  ModelState& model_;
  StepData data_;
  bool shuffle_;
  std::shared_ptr<TrainingMemory> memory_;
  Ranks ranks_;
  LeafLayout layout_;
  std::vector<float> sums_;           ///< of a device, on their way to other ranks
  std::vector<CachedProgram*> keep_;  ///< by level of the tree
  std::vector<CachedProgram*> add_;
  CachedProgram* finish_ = nullptr;
};

}  // namespace linnet
