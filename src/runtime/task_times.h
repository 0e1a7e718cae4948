// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/step.h"

namespace linnet {

/// How long the tasks of one stage take, one after the other on one thread: seconds, medians over
/// the steps that were watched.
struct StageTimes {
  std::size_t node = 0;  ///< whose stage it is: its index in the graph
  int chained = 1;       ///< nodes, this one first, that the stage computes by parts of the batch
  bool beside = false;   ///< its tasks are handed out with those of the stage before
  std::vector<double> tasks;
};

/// What a thread team spends besides tasks, in seconds, measured.
struct HandOut {
  double stage = 0;  ///< from the end of a stage's last task until other threads begin the next
  double task = 0;   ///< to take a task and to report its end
};

/// A Program whose nodes are stages of tasks for a thread team, as the CPU's are.
class TimesTasks {
 public:
  virtual ~TimesTasks() = default;
  /// Runs `steps` (at least 1) steps on the batch at first.position, on the calling thread alone,
  /// and times every task of every stage, in order.
  virtual std::vector<StageTimes> stage_times(const StepInfo& first, std::uint64_t steps) = 0;
  /// Measures what it costs the program's team to hand out tasks; takes some milliseconds.
  virtual HandOut hand_out() = 0;
};

}  // namespace linnet
