// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/section.h"
#include "config/workloads.h"

namespace linnet::command {

/// What arguments or [data] say of how a table is read.
struct TableReading {
  std::string separator = {};          ///< "," ";" "|" or "tab"; empty: found
  std::string decimal = {};            ///< "." or ","; empty: found
  std::string thousands = {};          ///< "." "," "'" "blank" or "none"; empty: found
  std::optional<bool> header = {};     ///< unset: found
  std::vector<std::string> type = {};  ///< "COLUMN=TYPE"
  std::vector<std::string> missing_text = {};  ///< "": no words are missing values
  std::string date_order = {};  ///< a name of date_order_names(); empty: found
  std::string encoding = {};    ///< empty: found
  std::string comment = {};     ///< a character or "none"; empty: found
  std::string sheet = {};       ///< of a spreadsheet; empty: the first
};
/// Adds --separator, --decimal, --thousands, --header, --no-header, --type, --missing-text,
/// --date-order, --encoding, --comment and --sheet.
void add_table_reading(CLI::App& command, TableReading& reading);
/// Throws Error for what can't be read.
TableOptions table_options(const TableReading& reading);

/// What arguments or [data] say of a training on a table.
struct TableSettings : TableReading {
  std::string file = {};  ///< the table; empty: none
  std::vector<std::string> target = {};
  std::string task = {};
  std::vector<std::string> ignore = {};
  std::string missing = {};
  std::vector<std::string> scale = {};  ///< "METHOD" or "COLUMN=METHOD"
  std::optional<double> validation = {};
  std::optional<double> test = {};
  std::string split = {};
  std::string group = {};
  std::string time = {};
  std::optional<std::int64_t> folds = {};
  std::int64_t fold = 0;           ///< the one that is trained
  std::optional<Table> rows = {};  ///< of the file, where they are read already
};
/// Returns whether a column holds sentences.
bool holds_sentences(const Table& table, std::size_t column);
/// Returns the names of all options of the two functions below, and --no-header.
std::vector<std::string> table_option_names();
/// Adds --target, --task, --ignore, --missing, --scale, --validation, --test, --split, --group,
/// --time, --folds, and those of add_table_reading().
void add_table_settings(CLI::App& command, TableSettings& settings);
/// Reads the same from [data], whose keys are named like the options, with _ for -; `settings` that
/// are given already stay. Throws Error at a wrong value.
void read_table_settings(Section& data, TableSettings& settings);

/// Sets data, default network and recipe of a job to those of the settings' table, or of the
/// transform of Job::from where that has one. Throws Error without a target, naming the columns.
void describe_table(Job& job, const TableSettings& settings, std::uint64_t seed);
/// Returns the training of a table's file. `from`: as Job::from.
Job table_job(const TableSettings& settings, std::uint64_t seed, const std::string& from);

}  // namespace linnet::command
