// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "config/workloads.h"

namespace linnet::command {

/// Says until when processes run.
struct ProcessLimit {
  std::function<double()> left;  ///< seconds until those that run are killed
  double longest = 0;            ///< seconds of the longest that has ended: none begins with less
  bool over = false;             ///< whether one did not begin, or was killed
  std::size_t begun = 0;         ///< how many have begun or were done already
};

/// Describes trainings that run side by side, each in a process of its own.
struct SideBySide {
  std::size_t count = 0;    ///< trainings
  std::size_t at_once = 1;  ///< that run at the same time
  /// Called before number i begins, here. Returns false where it is done already. Empty: none is.
  std::function<bool(std::size_t i)> begin = {};
  /// Trains number i, in its process. Returns the exit status; what it throws is its failure.
  /// `said` reaches `ended`.
  std::function<int(std::size_t i, std::string& said)> train;
  /// Called for each training that ended, in their order, up to the first one that was killed.
  /// `failure`: why it failed; empty: it did not.
  std::function<void(std::size_t i, const std::string& said, const std::string& failure)> ended;
  ProcessLimit* limit = nullptr;  ///< null: there is none
};

/// Returns how many trainings like this one run at the same time, each on one thread: several of a
/// table, whose networks are too small to keep several threads busy. Each needs at least the memory
/// that this process took. 0: they cannot run in processes of their own, on a GPU or on Windows.
std::size_t most_side_by_side(const Job& job, std::size_t count);

/// Runs them all. Returns false where a signal ended one: the others are then ended by the same
/// signal. No process is left, also where `ended` throws. The caller must not have started threads.
bool run_side_by_side(const SideBySide& work);

}  // namespace linnet::command
