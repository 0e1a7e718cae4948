// SPDX-License-Identifier: Apache-2.0
// Dates in one column and times of day in another one become one time.
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "series/find_step.h"
#include "table/contents.h"
#include "table/raw_columns.h"

namespace linnet {
namespace {

/// Whether a text is a time of day, such as 14:05 or 2 PM.
bool is_time_of_day(std::string_view text) {
  if (text.find_first_of(":mM") == std::string_view::npos) return false;
  return date_of("2000-01-01 " + std::string(text), DateReading()).has_value();
}

/// Whether all values of a column are times of day.
bool are_times_of_day(const Table& table, std::size_t column) {
  bool any = false;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view text = table.text(row, column);
    if (text.empty()) continue;
    if (!is_time_of_day(text)) return false;
    any = true;
  }
  return any;
}

/// Whether the dates have no times of their own, and some occurs twice in a series.
bool needs_times(const Table& table, std::size_t dates, std::optional<std::size_t> entity) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  bool repeated = false;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view text = table.text(row, dates);
    const std::optional<DateTime> date = date_of(text, table.contents()->dates[dates]);
    if (!date) continue;
    if (date->has_time) return false;
    repeated = !seen.emplace(entity ? table.text(row, *entity) : std::string_view(), text).second ||
               repeated;
  }
  return repeated;
}

}  // namespace

std::optional<std::size_t> find_times_of_day(const Table& table, std::size_t dates,
                                             std::optional<std::size_t> entity) {
  if (!needs_times(table, dates, entity)) return std::nullopt;
  if (dates + 1 < table.columns().size() && are_times_of_day(table, dates + 1)) return dates + 1;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    if (i == dates || i == entity || !are_times_of_day(table, i)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

Table join_times(const Table& table, const SeriesColumns& columns, const SeriesRecord& record) {
  if (record.time_of_day.empty()) return table;
  const std::size_t date = columns.need(record.time);
  const std::size_t time = columns.need(record.time_of_day);
  std::vector<std::vector<std::string>> rows;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    std::vector<std::string>& fields = rows.emplace_back();
    for (std::size_t i = 0; i < table.columns().size(); ++i) {
      const ColumnType type = table.columns()[i].type;
      const bool number = i != time && (type == ColumnType::number || type == ColumnType::integer);
      fields.push_back(number && !table.missing(row, i) ? fmt::format("{}", table.number(row, i))
                                                        : std::string(table.text(row, i)));
    }
    // Without a date or a time, the row has no time.
    fields[date] =
        fields[date].empty() || fields[time].empty() ? "" : fields[date] + " " + fields[time];
  }
  return remade(table, record, rows, table.contents()->dates[date].order);
}

}  // namespace linnet
