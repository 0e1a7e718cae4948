// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/callback.h>
#include <linnet/checkpoint.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "train/chunks.h"

namespace linnet {

/// Takes the checkpoint of a fit that is one of several, in place of a file. by_time: whether it is
/// due by Checkpoints::every_seconds.
using TakeCheckpoint = std::function<CheckpointReport(const State& state, std::int64_t epoch,
                                                      std::uint64_t steps, bool by_time)>;

/// Writes the checkpoints of a fit into their folder and removes those that are no longer kept.
class CheckpointWriter {
 public:
  /// `take` gets the checkpoints instead of the folder; empty: they are written. Throws Error for
  /// options out of range.
  explicit CheckpointWriter(const Checkpoints& options, TakeCheckpoint take = {});

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
  /// Returns whether one is due by time.
  bool is_late() const;
  void remove_old(std::uint64_t steps, std::int64_t best) const;

  Checkpoints options_;
  TakeCheckpoint take_;
  Clock::time_point last_ = Clock::now();  ///< when one was written
  std::vector<std::string> failures_;
};

}  // namespace linnet
