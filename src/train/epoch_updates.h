// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "model/session.h"
#include "train/leaf_steps.h"
#include "train/leaves.h"
#include "train/not_finite.h"

namespace linnet {

/// Returns the updates of `batches` batches, so many an update (or the batches of samples); the
/// last one may have fewer. Both at least 1.
constexpr std::int64_t updates_of(std::int64_t batches, std::int64_t of_update) {
  return (batches - 1) / of_update + 1;
}

/// The updates of an epoch, one for each batch of a pass: in one piece, or in leaves.
struct EpochUpdates {
  const DataPass* pass = nullptr;  ///< of training_recipe(), or with a tree of leaf_recipe()
  std::unique_ptr<LeafSteps> tree = nullptr;

  /// Runs updates [begin, end); `first` describes the epoch's first one.
  void run(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const;
  /// Adds the operator to a step of the epoch that begins with `first`, which is repeated:
  /// where it is in a leaf of this process.
  void explain(const StepInfo& first, NotFinite& found) const;

 private:
  std::vector<LeafRows> leaves_of(const StepInfo& first, std::uint64_t update) const;
};

}  // namespace linnet
