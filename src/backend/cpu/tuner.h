// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/devices.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/cpu/bf16.h"
#include "backend/cpu/kernel.h"
#include "base/thread_team.h"
#include "runtime/tuning_cache.h"

namespace linnet::cpu {

/// Chooses among the engines of a node: as the run has chosen before; if it is to measure, as this
/// machine's cache says, else by their times; without that the first. The number of threads is no
/// part of a choice, so that it changes no bits.
class Tuner {
 public:
  Tuner(const CpuOptions& options, Products products, std::shared_ptr<ThreadTeam> team);

  /// Returns null if no candidate takes the node. The kernel's engine tells what was measured.
  std::optional<Kernel> choose(const NodeView& node, const std::vector<Candidate>& candidates);
  /// Returns all that were made, for CpuOptions::choices.
  const std::map<std::string, std::string>& choices() const { return choices_; }
  /// Writes what is new into this machine's cache: TuningCache::save().
  std::string save() { return kept_.save(); }

 private:
  std::string key(const NodeView& node) const;
  std::optional<Kernel> fastest(const NodeView& node,
                                const std::vector<Candidate>& candidates) const;

  bool measure_;
  std::string machine_;  ///< what the times hold for
  std::shared_ptr<ThreadTeam> team_;
  std::map<std::string, std::string> choices_;
  TuningCache kept_;
};

}  // namespace linnet::cpu
