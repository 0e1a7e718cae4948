// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/series_task.h>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/section.h"
#include "config/table.h"
#include "config/workloads.h"

namespace linnet::command {

/// What the command line says of a training on series, beside what it says of tables.
struct SeriesSettings {
  std::optional<std::int64_t> past = {};
  std::optional<std::int64_t> future = {};
  std::optional<std::int64_t> season = {};
  std::string entity = {};
  std::vector<std::string> known = {};
  std::string network = {};
  std::string step = {};
  std::string same_time = {};
  std::string off_step = {};

  /// Whether windows were asked for.
  bool any() const { return past || future; }
};
/// Throws Error for settings that say how windows are, where none were asked for.
void require_windows(const SeriesSettings& settings);
/// Adds --past, --future, --entity, --known, --season, --network, --step, --same-time and
/// --off-step.
void add_series_settings(CLI::App& command, SeriesSettings& settings);

/// Reads the same from [data]; `settings` that are given already stay. Throws Error at a wrong
/// value.
void read_series_settings(Section& data, SeriesSettings& settings);

/// Sets data, network and recipe of a job to those of the settings' file. Throws Error for settings
/// of tables that series do not take.
void describe_series(Job& job, const TableSettings& table, const SeriesSettings& settings,
                     std::uint64_t seed);
/// The training of a file of series. `from`: as Job::from, which series do not take.
Job series_job(const TableSettings& table, const SeriesSettings& settings, std::uint64_t seed,
               const std::string& from);

}  // namespace linnet::command
