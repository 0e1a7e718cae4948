// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstdint>
#include <vector>

#include "nn/definition.h"
#include "ops/optimizer_update/optimizer_update.h"

namespace linnet {

/// What decides a step's update: the fields of TrainingOptions that say so.
struct UpdateOptions {
  Optimizer optimizer = Adam{};
  Schedule schedule = Constant{};
  Warmup warmup = {};
  Clip clip = {};
  std::vector<ParameterGroup> trains = {};
};

/// Epochs resolved to steps; every parameter trains, `trains` is left to add_groups(). What the
/// host does of a schedule (HostSchedule) resolves to a constant rate. Throws Error for numbers
/// outside their range.
OptimizerAttrs resolve(const UpdateOptions& options, std::int64_t epochs,
                       std::int64_t steps_per_epoch);

/// Names resolved to ranges of the flat arrays; no groups: every parameter trains. Throws Error for
/// a pattern that matches no parameter.
void add_groups(OptimizerAttrs& attrs, const NetworkDefinition& network,
                const std::vector<ParameterGroup>& groups);

/// Both.
OptimizerAttrs resolve(const TrainingOptions& options, const NetworkDefinition& network,
                       std::int64_t steps_per_epoch);

/// By NetworkDefinition::parameters: whether the update changes them.
std::vector<bool> trained_parameters(const NetworkDefinition& network, const OptimizerAttrs& attrs);

}  // namespace linnet
