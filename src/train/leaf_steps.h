// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/session.h"

namespace linnet {

/// One leaf of a step: a batch of its own.
struct LeafRows {
  StepInfo step;  ///< its position and epoch; what the leaves share is set by LeafSteps
  std::uint64_t rows = 0;
};

/// Steps over several batches each: a program for the leaves, the sum of what they leave in
/// a fixed binary tree (node = left + right), and the finish.
class LeafSteps {
 public:
  /// Adds its programs to the session; the leaves' pass is the caller's. Session::attach() comes
  /// after this. most: leaves of a step. shuffle: whether rows are in the epoch's order.
  LeafSteps(Session& session, ModelState& model, const std::string& key, const StepData& data,
            const TrainingStep& step, std::shared_ptr<TrainingMemory> memory, std::uint64_t most,
            bool shuffle);

  /// Returns what each leaf's program is told.
  std::vector<LeafRows> leaves_of(std::span<const LeafRows> batches) const;
  /// One step; `run` runs the program of a leaf.
  void run(std::span<const LeafRows> batches,
           const std::function<void(std::size_t leaf, const LeafRows& rows)>& run);

 private:
  ModelState& model_;
  StepData data_;
  bool shuffle_;
  std::vector<CachedProgram*> keep_;  ///< by level of the tree
  std::vector<CachedProgram*> add_;
  CachedProgram* finish_ = nullptr;
};

}  // namespace linnet
