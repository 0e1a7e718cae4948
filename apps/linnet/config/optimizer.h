// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/section.h"
#include "config/workloads.h"
#include "describe/setting.h"
#include "report/json.h"

namespace linnet::command {

/// Returns the job's optimizer or schedule as another kind: what the job names and the kind has
/// stays, all else is the kind's default.
Optimizer optimizer_of_kind(const Job& job, const std::string& name);
Schedule schedule_of_kind(const Job& job, const std::string& name);

/// Reads the table [optimizer]: kind, and the fields of that kind alone. Throws SettingError at any
/// other key, naming the fields.
void read_optimizer(const Setting& table, Job& job);
/// Reads [schedule]: kind, the fields of that kind alone, and warmup_epochs.
void read_schedule(const Setting& table, Job& job);
/// Reads `trains` of [training], an array of tables such as {name = "dense*", weight_decay = 0}.
void read_groups(Section& section, const std::string& file, TrainingOptions& training);

/// Adds the update to a run record: optimizer, learning_rate, schedule and losses by name and
/// number, all their settings, the warm-up, clipping and groups.
void add_update_options(Json& json, const TrainingOptions& training);

}  // namespace linnet::command
