// SPDX-License-Identifier: Apache-2.0
#include "table/learned_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/counted.h"
#include "table/dates.h"

namespace linnet {

bool is_outside(const std::vector<double>& range, double value) {
  return range.size() == 2 && (value < range[0] || value > range[1]);
}

bool is_far(const std::vector<double>& range, double time, double least) {
  constexpr double kShare = 0.1;
  if (range.size() != 2) return false;
  const double margin = std::max(least, kShare * (range[1] - range[0]));
  return time < range[0] - margin || time > range[1] + margin;
}

std::string numbers_text(const std::vector<double>& range) {
  return fmt::format("{:.7g} to {:.7g}", range.front(), range.back());
}

std::string days_text(const std::vector<double>& range) {
  const auto text = [](double day) {
    return date_text("%Y-%m-%d", static_cast<std::int64_t>(std::floor(day)), 0);
  };
  return text(range.front()) + " to " + text(range.back());
}

void OutsideNotes::begin(std::string column, std::string what, std::string range) {
  columns_.push_back(
      {.name = std::move(column), .what = std::move(what), .range = std::move(range)});
}

void OutsideNotes::add(std::string value) {
  Column& column = columns_.back();
  if (column.count++ == 0) column.first = std::move(value);
}

void OutsideNotes::finish(const std::string& table, std::vector<std::string>& notes) const {
  constexpr std::size_t kMostColumns = 5;
  std::size_t named = 0;
  std::size_t others = 0;
  for (const Column& column : columns_) {
    if (column.count == 0) continue;
    if (named == kMostColumns) {
      ++others;
      continue;
    }
    ++named;
    notes.push_back(fmt::format("{} of '{}' in column '{}' {} {}, {}, such as {}",
                                counted(column.count, "value"), table, column.name,
                                column.count == 1 ? "is" : "are", column.what, column.range,
                                column.first));
  }
  if (others > 0) {
    notes.push_back(fmt::format("{} of '{}' {} values outside the training's range, too",
                                counted(others, "further column"), table,
                                others == 1 ? "has" : "have"));
  }
}

}  // namespace linnet
