// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "train/fit_parts.h"

namespace linnet {

struct ObjectiveState;
struct TrainerState;

/// Which parameters train from one epoch of a fit on, and the programs that do so.
struct FitPhase {
  std::int64_t first_epoch = 1;  ///< from the training's start on, the first one is 1
  std::vector<ParameterGroup> trains = {};
  OptimizerAttrs optimizer = {};
  DataPass pass = {};  ///< empty in the first phase, whose programs the fit's own parts have
  std::unique_ptr<ShardedSteps> tree = nullptr;
};

/// Says where a fit begins or continues.
struct FitPlace {
  std::int64_t epoch = 1;
  std::int64_t last_epoch = 1;
  std::uint64_t updates = 0;         ///< of the epoch that are done
  std::uint64_t steps_of_epoch = 1;  ///< updates of a whole epoch
};

/// The phases of a fit with FitOptions::freeze; without it there is none. The objective trains what
/// it trained before once leave() was called or this is destroyed.
class FitPhases {
 public:
  FitPhases(TrainerState& trainer, ObjectiveState& objective);
  ~FitPhases();
  FitPhases(const FitPhases&) = delete;
  FitPhases& operator=(const FitPhases&) = delete;

  /// Finds the phases from a place on. Changes nothing. Throws Error for entries that freeze
  /// nothing or overlap, and for an epoch in which nothing trains.
  void plan(const std::vector<Freeze>& freeze, const StepData& data, const FitPlace& place);
  bool empty() const { return phases_.empty(); }
  /// Returns the optimizer of the first phase.
  const OptimizerAttrs& first_optimizer() const { return phases_.front().optimizer; }
  /// Adds the programs of the other phases, like those of `parts` in all but what trains.
  void add_programs(Session& session, const FitParts& parts, const FitProgram& program,
                    const FitForm& form);
  /// Binds their data, those of `train`.
  void bind(Session& session, const FitPart& train, bool shuffle);

  /// Lets the objective train what the epoch's phase does, by its programs, which `parts` gets.
  void enter(std::int64_t epoch, FitParts& parts);
  /// Lets the objective train what it trained before.
  void leave();

 private:
  void train(const std::vector<ParameterGroup>& trains);

  TrainerState& trainer_;
  ObjectiveState& objective_;
  std::vector<ParameterGroup> before_;
  std::list<FitPhase> phases_;
  const FitPhase* current_ = nullptr;
};

/// Returns a sentence for each entry that begins after the fit's last epoch.
std::vector<std::string> notes_on(const std::vector<Freeze>& freeze, std::int64_t last_epoch);

}  // namespace linnet
