// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/section.h"
#include "config/workloads.h"

namespace linnet::command {

/// What arguments and [data] say of a training's data, by the names of the options: "date_order".
/// Arguments come first.
struct DataSettings {
  std::string file = {};             ///< the table; empty: none
  Setting given = {SettingTable()};  ///< those of [data] have a place
  std::string configuration = {};    ///< the file of [data]
  std::int64_t fold = 0;             ///< the one that is trained
  std::optional<Table> rows = {};    ///< of the file, where they are read already

  /// Returns whether one of these is given.
  bool has(std::initializer_list<std::string_view> keys) const;
  /// Reads those that `options` describe. Throws Error at a wrong value.
  void read(const Description& options, void* object) const;
};
/// Describes how a table is read.
const Description& table_reading();
/// Returns what is given of it. Throws Error for what can't be read.
TableOptions table_options(const DataSettings& settings);
/// Returns whether a column holds sentences.
bool holds_sentences(const Table& table, std::size_t column);
/// Returns the names of all options of tables.
std::vector<std::string> table_option_names();
/// Adds them to the command.
void add_table_settings(CLI::App& command, Setting& given);
/// Adds what [data] says of the options of tables and series; those that are given already stay.
void add_data(Section& data, DataSettings& settings);

/// Sets data, default network and recipe of a job to those of the settings' table, or of the
/// transform of Job::from where that has one. Throws Error without a target, naming the columns.
void describe_table(Job& job, const DataSettings& settings, std::uint64_t seed);
/// Returns the training of a table's file. `from`: as Job::from.
Job table_job(const DataSettings& settings, std::uint64_t seed, const std::string& from);

}  // namespace linnet::command
