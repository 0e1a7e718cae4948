// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <CLI/CLI.hpp>
#include <string>

namespace linnet::command {

/// Declares --sheet, of commands that read the rows of a model.
void add_sheet_option(CLI::App& command, std::string& sheet);

/// Reads a file as the rows of a model were, `sheet` of a spreadsheet (empty: the first), and
/// prints which one where there are several.
Table read_model_rows(const std::string& file, TableOptions reading, const std::string& sheet);

}  // namespace linnet::command
