// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/counted.h"
#include "base/shell_word.h"
#include "describe/nearest.h"
#include "tasks/table/table_rows.h"
#include "tasks/table/table_survey.h"

namespace linnet {
namespace {

constexpr std::size_t kMostNamed = 8;  // of columns

bool can_be_target(const TableColumn& column) {
  return column.type != ColumnType::constant && column.type != ColumnType::identifier &&
         column.type != ColumnType::date_time;
}

/// Returns the column that is likely to be predicted: by its name, else the last one, but for a
/// first one that alone has few texts.
std::size_t likely_target(const std::vector<TableColumn>& columns) {
  static constexpr std::array<std::string_view, 8> kNames{"target", "label",   "class",  "species",
                                                          "y",      "outcome", "output", "quality"};
  for (const std::string_view name : kNames) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (lower_ascii(columns[i].name) == name && can_be_target(columns[i])) return i;
    }
  }
  for (std::size_t i = columns.size(); i-- > 0;) {
    if (can_be_target(columns[i])) return i;
  }
  return columns.size() - 1;
}

}  // namespace

TaskPage page_of_table(const Table& table, const std::string& path) {
  std::vector<std::string> names;
  for (const TableColumn& column : table.columns()) names.push_back(column.name);
  const std::size_t target = likely_target(table.columns());
  std::size_t text = 0;
  while (text < names.size() && (text == target || !holds_sentences(table, text))) ++text;
  const bool is_series =
      std::ranges::count(table.columns(), ColumnType::date_time, &TableColumn::type) == 1;
  TaskPage page{.found = fmt::format("{} is a table of {} and {}: {}.", path,
                                     counted(table.rows(), "row"), counted(names.size(), "column"),
                                     some_of(names, kMostNamed))};
  auto& lines = page.commands;
  lines.emplace_back("linnet data info " + shell_word(path),
                     "types, ranges and missing values of the columns");
  const std::string of = "--target " + shell_word(names[target]);
  if (text < names.size()) {
    lines.emplace_back(fmt::format("linnet train {} --text {} {}", shell_word(path),
                                   shell_word(names[text]), of),
                       "learns to tell the texts apart");
    page.add_use("\"a new text\"", "classes of new texts");
  } else {
    if (names.size() > (is_series ? 2 : 1)) {
      lines.emplace_back(fmt::format("linnet train {} {}", shell_word(path), of),
                         "learns one column, any, from the others");
    }
    if (is_series) {
      lines.emplace_back(fmt::format("linnet train {} {} --past 30 --future 7", shell_word(path),
                                     of),
                         "forecasts 7 steps from the 30 before");
    }
    page.add_use("new.csv", "predictions for new rows");
  }
  return page;
}

}  // namespace linnet
