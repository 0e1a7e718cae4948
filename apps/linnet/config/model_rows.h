// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>
#include <linnet/tables.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace linnet::command {

/// Rows of a table that a model can be measured on.
struct ModelRows {
  Table table;
  std::vector<std::int64_t> numbers;    ///< of the rows in their file, from 1
  std::vector<std::string> notes = {};  ///< sentences on what was left out
};

/// Declares --sheet, of commands that read the rows of a model.
void add_sheet_option(CLI::App& command, std::string& sheet);

/// Reads a file as the rows of a model were, `sheet` of a spreadsheet (empty: the first), and
/// prints which one where there are several.
Table read_model_rows(const std::string& file, TableOptions reading, const std::string& sheet);

/// Reads the rows of a file as the model learned its own, and leaves those out that lack a target;
/// `force`: also those whose label is none of the model's classes.
ModelRows measurable_rows(const std::string& file, const std::string& sheet, const Model& model,
                          bool force = false);

}  // namespace linnet::command
