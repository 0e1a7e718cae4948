// SPDX-License-Identifier: Apache-2.0
#include "config/model_rows.h"

#include <utility>

#include "report/print.h"
#include "tasks/task.h"

namespace linnet::command {
void add_sheet_option(CLI::App& command, std::string& sheet) {
  command.add_option("--sheet", sheet,
                     "Sheet of a spreadsheet (.xlsx), by name or number from 1; else the first");
}

Table read_model_rows(const std::string& file, TableOptions reading, const std::string& sheet) {
  std::vector<std::string> notes;
  Table table = read_sheet(file, std::move(reading), sheet, notes);
  for (const std::string& note : notes) print_note("{}", note);
  return table;
}

}  // namespace linnet::command
