// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "runtime/backend.h"

namespace linnet {

/// One step of a program.
struct ProgramRun {
  Program* program = nullptr;
  StepInfo step = {};
};

/// A program that can run at the same time as others of its kind, each on memory of its own.
class RunsSideBySide {
 public:
  virtual ~RunsSideBySide() = default;
  /// Runs a step of each program at the same time: the stages of all follow each other in lock
  /// step. Where `meets` holds for a node, no program begins it before all have come to it; their
  /// graphs then have equally many of these.
  virtual void run_side_by_side(std::span<const ProgramRun> runs,
                                bool (*meets)(const Node& node)) const = 0;
};

}  // namespace linnet
