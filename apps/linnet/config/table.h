// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/workloads.h"

namespace linnet::command {

/// What the command line says of how a table is read.
struct TableReading {
  std::string separator = {};           ///< "," ";" "|" or "tab"; empty: found
  std::string decimal = {};             ///< "." or ","; empty: found
  std::optional<bool> header = {};      ///< unset: found
  std::vector<std::string> types = {};  ///< "COLUMN=TYPE"
};
/// Adds --separator, --decimal, --header, --no-header and --type.
void add_table_reading(CLI::App& command, TableReading& reading);
/// Throws Error for what can't be read.
TableOptions table_options(const TableReading& reading);

/// What the command line says of a training on a table.
struct TableSettings {
  TableReading reading = {};
  std::string target = {};
  std::string task = {};
  std::vector<std::string> ignore = {};
  std::string missing = {};
  std::optional<double> validation = {};
  std::optional<double> test = {};
  std::string split = {};

  /// Returns whether anything but the target was given.
  bool any() const;
};
/// Adds --target, --task, --ignore, --missing, --validation, --test, --split, and those of
/// add_table_reading().
void add_table_settings(CLI::App& command, TableSettings& settings);

/// Returns the training of a table's file. Throws Error without a target, naming the columns.
Job table_job(const std::string& file, const TableSettings& settings, std::uint64_t seed);

}  // namespace linnet::command
