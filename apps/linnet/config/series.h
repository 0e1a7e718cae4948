// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/series_task.h>

#include <cstdint>
#include <string>

#include "config/table.h"
#include "config/workloads.h"

namespace linnet::command {

/// Describes the options of windows over a table.
const Description& series_flags();
/// Returns whether windows are asked for.
bool wants_windows(const DataSettings& settings);
/// Throws Error for settings that say how windows are, where none were asked for.
void require_windows(const DataSettings& settings);

/// Sets data, network and recipe of a job to those of the settings' file. Throws Error for settings
/// of tables that series do not take.
void describe_series(Job& job, const DataSettings& settings, std::uint64_t seed);
/// The training of a file of series. `from`: as Job::from, which series do not take.
Job series_job(const DataSettings& settings, std::uint64_t seed, const std::string& from);

}  // namespace linnet::command
