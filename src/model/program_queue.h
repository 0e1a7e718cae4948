// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "runtime/side_by_side.h"

namespace linnet {

/// Programs that wait to run one after the other, in one go where the device can do that: between
/// two runs its threads may fall asleep. What a program is bound to must not change until then.
class ProgramQueue {
 public:
  /// Adds programs that run at the same time, after those before.
  void add(SideBySide group);
  void add(Program& program, const StepInfo& step) { add({{.program = &program, .step = step}}); }
  /// Runs all of them.
  void run();
  /// Runs them where there are many.
  void run_some();
  /// Returns what waits, which is then no longer here.
  std::vector<SideBySide> take() { return std::exchange(groups_, {}); }

 private:
  std::vector<SideBySide> groups_;
};

}  // namespace linnet
