// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "runtime/backend.h"

namespace linnet {

/// One step of a program; repack: the weights have changed since its last one
/// (Program::weights_changed()). apart: on the memory of RunsSideBySide::attach_apart().
struct ProgramRun {
  Program* program = nullptr;
  StepInfo step = {};
  bool repack = false;
  bool apart = false;
};

/// Steps of programs that run at the same time, each on memory of its own.
using SideBySide = std::vector<ProgramRun>;

/// A program whose kind can run in one go with others: without an end of the run between them, and
/// several at the same time.
class RunsSideBySide {
 public:
  virtual ~RunsSideBySide() = default;
  /// Gives the program a second memory, beside Program::attach()'s, for single runs; called after
  /// it.
  virtual void attach_apart(const Memory& memory) = 0;
  /// Runs groups of programs one after the other; those of a group run whole, each on a thread, or
  /// their stages follow each other in lock step. Where `meets` holds for a node, no program of a
  /// group begins it before all have come to it; their graphs then have equally many of these.
  virtual void run_in_turn(std::span<const SideBySide> groups,
                           bool (*meets)(const Node& node)) const = 0;
};

}  // namespace linnet
