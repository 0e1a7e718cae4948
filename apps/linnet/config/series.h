// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/series_task.h>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

  /// Whether windows were asked for.
  bool any() const { return past || future; }
};
/// Adds --past, --future, --entity, --known, --season and --network.
void add_series_settings(CLI::App& command, SeriesSettings& settings);

/// The training of a file of series. Throws Error for settings of tables that series do not take.
Job series_job(const TableSettings& table, const SeriesSettings& settings, std::uint64_t seed);

}  // namespace linnet::command
