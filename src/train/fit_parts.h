// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/session.h"
#include "ops/optimizer_update/optimizer_update.h"
#include "train/epoch_updates.h"

namespace linnet {

struct ObjectiveState;

/// A data set of a fit with the programs that go through it.
struct FitPart {
  const char* name = "";  ///< in its programs' keys: parts with programs of their own stay bound
  StepData data = {};
  std::int64_t samples = 0;
  DataPass pass = {};
  BatchStream* stream = nullptr;  ///< null: the device gathers by itself

  StepInfo first_step(std::uint64_t seed) const {
    return {.seed = seed, .samples = static_cast<std::uint64_t>(samples)};
  }
};

/// How the steps of a fit are computed, which changes what they need.
struct FitForm {
  Shards shards = {};
  bool streamed = false;   ///< FitOptions::streamed
  bool recompute = false;  ///< TrainerOptions::recompute
};

/// The data sets of a fit, with the programs that train on and evaluate them.
struct FitParts {
  FitPart train;
  FitPart validation = {};
  FitPart test = {.name = "test "};
  EpochUpdates updates = {};  ///< of `train`

  std::array<FitPart*, 3> all() { return {&train, &validation, &test}; }
};

/// What the programs of a fit follow from, besides its data.
struct FitProgram {
  ModelState& model;
  const ObjectiveState& objective;
  const FitOptions& options;
  const OptimizerAttrs& optimizer;
  const TrainerOptions& trainer;
  std::int64_t trained;  ///< samples of an epoch
};

/// Returns the form that the options ask for, or that stays within FitOptions::memory_limit: the
/// fastest one by what is planned, without allocating. Adds a sentence about what it chose to
/// `notes`. Throws Error if none does.
FitForm choose_form(const FitParts& parts, const FitProgram& program,
                    std::vector<std::string>& notes);

/// Adds the programs of the validation and the test set alone, with the streams that they read.
void add_evaluations(Session& session, FitParts& parts, const FitProgram& program,
                     const FitForm& form);

/// Adds the programs of a training on `data` and returns its pass; of several shards `tree` gets
/// their sum. fed: the data come through a stream.
DataPass add_training(Session& session, const StepData& data, std::unique_ptr<ShardedSteps>& tree,
                      const FitProgram& program, const FitForm& form, bool fed);

/// Lets a pass read the data of a part.
void bind(Session& session, DataPass& pass, const FitPart& part, bool shuffle);

/// Adds the programs of all parts to a session, with the streams that they read.
void add_programs(Session& session, FitParts& parts, const FitProgram& program,
                  const FitForm& form);

}  // namespace linnet
