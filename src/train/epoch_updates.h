// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "model/session.h"
#include "train/levenberg_marquardt/least_squares_fit.h"
#include "train/not_finite.h"
#include "train/sharded_steps.h"
#include "train/sharding.h"

namespace linnet {

/// Returns the updates of `batches` batches, so many an update (or the batches of samples); the
/// last one may have fewer. Both at least 1.
constexpr std::int64_t updates_of(std::int64_t batches, std::int64_t of_update) {
  return (batches - 1) / of_update + 1;
}

/// The updates of an epoch, one for each batch of a pass: in one piece, or in shards. By
/// LevenbergMarquardt there is one, of all samples.
struct EpochUpdates {
  const DataPass* pass = nullptr;  ///< of training_recipe(), or with a tree of shard_recipe()
  std::unique_ptr<ShardedSteps> tree = nullptr;
  std::unique_ptr<LeastSquaresFit> least_squares = nullptr;  ///< then the pass has no programs

  /// Runs updates [begin, end); `first` describes the epoch's first one.
  void run(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const;
  /// Returns whether no further update would change anything.
  bool ended() const { return least_squares != nullptr && least_squares->ended(); }
  /// Adds the operator to a step of the epoch that begins with `first`, which is repeated:
  /// where it is in a shard of this process.
  void explain(const StepInfo& first, NotFinite& found) const;

 private:
  std::vector<ShardRows> shards_in(const StepInfo& first, std::uint64_t update) const;
};

}  // namespace linnet
