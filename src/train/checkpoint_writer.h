// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/callback.h>
#include <linnet/checkpoint.h>

#include <cstdint>
#include <string>
#include <vector>

#include "train/chunks.h"

namespace linnet {

/// Writes the checkpoints of a fit into their folder and removes those that are no longer kept.
class CheckpointWriter {
 public:
  /// Throws Error for options out of range.
  explicit CheckpointWriter(const Checkpoints& options);

  bool enabled() const { return !options_.folder.empty(); }
  /// Throws Error where the folder holds checkpoints that the fit does not continue.
  void open();
  /// Returns whether one is to be written in the middle of an epoch, after so many steps of the
  /// training.
  bool due(std::uint64_t steps) const;
  /// Returns the first step from `step` on, of this epoch's that begins at `first`, after which one
  /// is due by steps; `last` where none is before.
  std::uint64_t next(std::uint64_t step, std::uint64_t first, std::uint64_t last) const;
  /// Writes one. `best`: the steps of the one that stays, -1: none. Throws Error where it can't and
  /// is not to proceed.
  CheckpointReport write(const State& state, std::int64_t epoch, std::uint64_t steps,
                         std::int64_t best);
  /// Sentences on those that could not be written, the newest 20.
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  void remove_old(std::uint64_t steps, std::int64_t best) const;

  Checkpoints options_;
  Clock::time_point last_ = Clock::now();  ///< when one was written
  std::vector<std::string> failures_;
};

}  // namespace linnet
