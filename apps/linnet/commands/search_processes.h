// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace linnet::command {

/// Trainings that run side by side, each in a process of its own.
struct SideBySide {
  std::size_t count = 0;    ///< trainings
  std::size_t at_once = 1;  ///< that run at the same time
  /// Trains number i, in its process. Returns the exit status; what it throws is its failure.
  std::function<int(std::size_t i)> train;
  /// Told of each training, in their order, with its failure; empty: it did not fail.
  std::function<void(std::size_t i, const std::string& failure)> ended;
};

/// Returns whether the system starts processes as copies of this one; Windows does not.
bool can_run_side_by_side();

/// Runs them all. Returns false where a signal ended one: the others are then ended by the same
/// signal. The caller must not have started threads.
bool run_side_by_side(const SideBySide& work);

}  // namespace linnet::command
