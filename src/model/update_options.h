// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nn/definition.h"
#include "ops/optimizer_update/optimizer_update.h"

namespace linnet {

struct StepData;

/// Returns the losses of a one-line training.
Objective objective_of(const TrainingOptions& options);

/// Resolves epochs to steps; every parameter trains, `trains` is left to add_parameters(). What the
/// host does of a schedule (HostSchedule) resolves to a constant rate. Throws Error for numbers
/// outside their range.
OptimizerAttrs resolve(const Objective& objective, std::int64_t epochs,
                       std::int64_t steps_per_epoch);

/// Returns, by NetworkDefinition::parameters, whether a loss over `data` depends on them.
std::vector<bool> reached_parameters(const NetworkDefinition& network, const StepData& data);

/// Returns the elements of a parameter, with the padding after it.
UpdateRange range_of(const ParameterSpec& spec);

/// Returns the range of the attributes that holds a parameter, cut to it; nothing where the update
/// leaves it as it is.
std::optional<UpdateRange> range_in(const OptimizerAttrs& attrs, const ParameterSpec& spec);

/// Returns groups of one parameter each, with what `groups` say of it: of those that train by
/// `groups` (none: all parameters) and for which `rests` does not hold.
std::vector<ParameterGroup> groups_without(const NetworkDefinition& network,
                                           const std::vector<ParameterGroup>& groups,
                                           const std::vector<bool>& rests);

/// Resolves the objective's groups to ranges of the flat arrays; no groups: every parameter trains.
/// What is not `reached` (empty: all are) does not train. left_out: by parameter, the updates that
/// did not change it; empty: none. Throws Error for a pattern that matches
/// no parameter, or none that is reached, by losses of the objective of that name, and for what the
/// optimizer needs of the parameters.
void add_parameters(OptimizerAttrs& attrs, const NetworkDefinition& network,
                    const Objective& objective, const std::vector<bool>& reached = {},
                    const std::string& name = {}, const std::vector<std::int64_t>& left_out = {});

/// Does both.
OptimizerAttrs resolve(const TrainingOptions& options, const NetworkDefinition& network,
                       std::int64_t steps_per_epoch);

/// Returns, by NetworkDefinition::parameters, whether the update changes them.
std::vector<bool> trained_parameters(const NetworkDefinition& network, const OptimizerAttrs& attrs);

}  // namespace linnet
