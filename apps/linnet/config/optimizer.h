// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/section.h"
#include "config/workloads.h"
#include "report/json.h"

namespace linnet::command {

/// The names that --optimizer takes, and each one's defaults.
const std::vector<std::string>& optimizer_names();
Optimizer default_optimizer(const std::string& name);

/// The names that --schedule takes, and each one's defaults. Functions have none.
const std::vector<std::string>& schedule_names();
Schedule default_schedule(const std::string& name);

/// The job's optimizer or schedule as another kind: what the job names and the kind has stays, all
/// else is the kind's default.
Optimizer optimizer_of_kind(const Job& job, const std::string& name);
Schedule schedule_of_kind(const Job& job, const std::string& name);

/// Reads [optimizer]: kind, and the fields of that kind alone. Throws Error at any other key,
/// naming the fields.
void read_optimizer(Section& section, Job& job);
/// Reads [schedule]: kind, the fields of that kind alone, and warmup_epochs.
void read_schedule(Section& section, Job& job);
/// Reads `trains` of [training], an array of tables such as {name = "dense*", weight_decay = 0}.
void read_groups(Section& section, const std::string& file, TrainingOptions& training);

/// What a run record says of the update: optimizer, learning_rate and schedule by name and number,
/// their settings, the warm-up, clipping and groups.
void add_update_options(Json& json, const TrainingOptions& training);

}  // namespace linnet::command
