// SPDX-License-Identifier: Apache-2.0
#include "series/align.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "base/check.h"
#include "describe/nearest.h"

namespace linnet {
namespace {

constexpr std::int64_t kMostTime = std::int64_t{1} << 53;

/// A row of a table and its time.
struct TimedRow {
  std::int64_t time = 0;
  std::int64_t row = 0;
};

struct Group {
  std::string entity = {};
  std::vector<TimedRow> rows = {};
};

std::chrono::year_month_day date_at(std::int64_t time) {
  return {std::chrono::sys_days{std::chrono::days(floor_day(time))}};
}

std::chrono::day last_day(const std::chrono::year_month& month) {
  return std::chrono::year_month_day_last(month.year(), std::chrono::month_day_last(month.month()))
      .day();
}

std::int64_t month_of(std::int64_t time) {
  const std::chrono::year_month_day date = date_at(time);
  return 12 * static_cast<std::int64_t>(static_cast<int>(date.year())) +
         static_cast<unsigned>(date.month()) - 1;
}

std::optional<DateTime> compact_date(std::string_view text) {
  if (text.size() != 8) return std::nullopt;
  const std::string dashes =
      fmt::format("{}-{}-{}", text.substr(0, 4), text.substr(4, 2), text.substr(6));
  return date_of(dashes, DateOrder::year_first);
}

/// Rows series by series in the file's order of series, sorted by time.
std::vector<Group> groups_of(const Table& table, const SeriesColumns& columns,
                             const SeriesRecord& record, bool* sorted = nullptr) {
  const std::vector<std::int64_t> times = read_times(table, record, columns);
  const std::optional<std::size_t> entity =
      record.entity.empty() ? std::nullopt : std::optional(columns.need(record.entity));
  std::vector<Group> groups;
  std::map<std::string_view, std::size_t> places;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view name = entity ? table.text(row, *entity) : std::string_view();
    require<DataError>(!entity || !name.empty(), "{}: the series is missing",
                       entity ? table.place(row, *entity) : "");
    const auto [found, is_new] = places.try_emplace(whole_text(name), groups.size());
    if (is_new) groups.push_back({.entity = std::string(name)});
    std::vector<TimedRow>& rows = groups[found->second].rows;
    const std::int64_t time = record.time_kind == TimeKind::rows
                                  ? std::ssize(rows)
                                  : times[static_cast<std::size_t>(row)];
    rows.push_back({time, row});
  }
  for (Group& group : groups) {
    const auto by_time = [](const TimedRow& a, const TimedRow& b) { return a.time < b.time; };
    if (std::ranges::is_sorted(group.rows, by_time)) continue;
    if (sorted != nullptr) *sorted = false;
    std::ranges::stable_sort(group.rows, by_time);
  }
  return groups;
}

/// Throws DataError for a time that a series has twice.
void check_times(const Table& table, const SeriesColumns& columns, const SeriesRecord& record,
                 const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    for (std::size_t i = 1; i < group.rows.size(); ++i) {
      if (group.rows[i].time != group.rows[i - 1].time) continue;
      const std::size_t column = columns.need(record.time);
      fail<DataError>(
          "{}: the time {} occurs twice{} (also in row {}); expected one row for each time; a "
          "column that tells several series apart is the entity",
          table.place(group.rows[i].row, column), table.text(group.rows[i].row, column),
          group.entity.empty() ? "" : fmt::format(" in the series '{}'", group.entity),
          group.rows[i - 1].row + 1);
    }
  }
}

/// The most common value; the smallest of equally common ones.
std::int64_t most_common(const std::map<std::int64_t, std::int64_t>& counts) {
  std::int64_t best = 1;
  std::int64_t most = 0;
  for (const auto& [value, count] : counts) {
    if (count > most) std::tie(best, most) = std::pair(value, count);
  }
  return best;
}

/// The steps from `first` to `time`; nothing where it is between two.
std::optional<std::int64_t> steps_between(const SeriesRecord& record, std::int64_t first,
                                          std::int64_t time) {
  const std::int64_t apart = record.months ? month_of(time) - month_of(first) : time - first;
  if (apart % record.step != 0) return std::nullopt;
  const std::int64_t steps = apart / record.step;
  if (record.months && time_at(record, first, steps) != time) return std::nullopt;
  return steps;
}

}  // namespace

SeriesColumns::SeriesColumns(const SeriesRecord& record, const Table& table)
    : record_(record), table_(table), by_name_(record.reading.header && table.has_header()) {
  require<DataError>(by_name_ || table.columns().size() == record.columns.size(),
                     "'{}' has {} columns; the model learned from {}", table.name(),
                     table.columns().size(), record.columns.size());
}

std::size_t SeriesColumns::need(const std::string& column) const {
  if (!by_name_) {
    return static_cast<std::size_t>(std::ranges::find(record_.columns, column) -
                                    record_.columns.begin());
  }
  std::vector<std::string> names;
  for (const TableColumn& one : table_.columns()) {
    if (one.name == column) return names.size();
    names.push_back(one.name);
  }
  fail<DataError>("'{}' has no column '{}', from which the model learned{}", table_.name(), column,
                  did_you_mean(column, names));
}

std::int64_t time_at(const SeriesRecord& record, std::int64_t first, std::int64_t step) {
  if (!record.months) return first + step * record.step;
  const std::chrono::year_month_day from = date_at(first);
  const std::chrono::year_month month =
      std::chrono::year_month(from.year(), from.month()) + std::chrono::months(step * record.step);
  const std::chrono::day wanted =
      record.month_day > 0 ? std::chrono::day(static_cast<unsigned>(record.month_day)) : from.day();
  const std::chrono::sys_days day(month / std::min(wanted, last_day(month)));
  return day.time_since_epoch().count() * kDay + (first - floor_day(first) * kDay);
}

std::vector<std::int64_t> read_times(const Table& table, const SeriesRecord& record,
                                     const SeriesColumns& columns) {
  std::vector<std::int64_t> times(static_cast<std::size_t>(table.rows()));
  if (record.time_kind == TimeKind::rows) return times;
  const std::size_t column = columns.need(record.time);
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view text = table.text(row, column);
    require<DataError>(!text.empty(), "{}: the time is missing", table.place(row, column));
    std::int64_t& time = times[static_cast<std::size_t>(row)];
    if (record.time_kind == TimeKind::number) {
      const std::optional<double> number = number_of(text, table.decimal());
      require<DataError>(number && *number == std::round(*number) && std::abs(*number) < kMostTime,
                         "{}: expected a whole number as time; got '{}'", table.place(row, column),
                         text);
      time = static_cast<std::int64_t>(*number);
      continue;
    }
    const std::optional<DateTime> date =
        record.time_kind == TimeKind::compact ? compact_date(text) : date_of(text, record.order);
    require<DataError>(date.has_value(), "{}: expected a date such as {}; got '{}'",
                       table.place(row, column), time_text(record, 0), text);
    time = date->day * kDay + static_cast<std::int64_t>(date->seconds);
  }
  return times;
}

namespace {

/// The day of the month on which all times lie, or on its last day where it is shorter; 0: none.
std::int64_t day_of_months(const std::vector<Group>& groups) {
  std::chrono::day latest{0};
  for (const Group& group : groups) {
    for (const TimedRow& row : group.rows) latest = std::max(latest, date_at(row.time).day());
  }
  for (const Group& group : groups) {
    for (const TimedRow& row : group.rows) {
      const std::chrono::year_month_day date = date_at(row.time);
      if (date.day() != std::min(latest, last_day(date.year() / date.month()))) return 0;
    }
  }
  return static_cast<std::int64_t>(static_cast<unsigned>(latest));
}

}  // namespace

void find_step(const Table& table, const SeriesColumns& columns, SeriesRecord& record) {
  record.step = 1;
  record.months = false;
  record.month_day = 0;
  if (record.time_kind == TimeKind::rows) return;
  const std::vector<Group> groups = groups_of(table, columns, record);
  check_times(table, columns, record, groups);
  std::map<std::int64_t, std::int64_t> steps;
  std::map<std::int64_t, std::int64_t> months;
  bool same_day = record.dates();
  for (const Group& group : groups) {
    for (std::size_t i = 1; i < group.rows.size(); ++i) {
      const std::int64_t before = group.rows[i - 1].time;
      const std::int64_t time = group.rows[i].time;
      ++steps[time - before];
      if (!record.dates()) continue;
      same_day = same_day && date_at(time).day() == date_at(before).day();
      ++months[month_of(time) - month_of(before)];
    }
  }
  record.step = most_common(steps);
  if (!record.dates() || record.step < 28 * kDay) return;
  if (!same_day) record.month_day = day_of_months(groups);
  record.months = same_day || record.month_day > 0;
  if (record.months) record.step = most_common(months);
}

AlignedRows align(const Table& table, const SeriesColumns& columns, const SeriesRecord& record) {
  AlignedRows aligned;
  bool sorted = true;
  const std::vector<Group> groups = groups_of(table, columns, record, &sorted);
  check_times(table, columns, record, groups);
  if (!sorted) aligned.notes.emplace_back("the rows are sorted by time");
  std::int64_t gaps = 0;
  std::string first_gap;
  for (const Group& group : groups) {
    AlignedSeries series{.entity = group.entity, .first_time = group.rows.front().time};
    for (const TimedRow& row : group.rows) {
      const std::optional<std::int64_t> place = steps_between(record, series.first_time, row.time);
      if (!place) {
        fail<DataError>(
            "{}: the time {} lies between two steps of {}, counted from {}; expected equal steps; "
            "without a column of the time, rows follow each other as they stand",
            table.place(row.row, columns.need(record.time)),
            table.text(row.row, columns.need(record.time)), step_text(record),
            time_text(record, series.first_time));
      }
      const std::int64_t missing = *place - std::ssize(series.rows);
      if (missing > 0 && first_gap.empty()) {
        first_gap = time_text(record, time_at(record, series.first_time, std::ssize(series.rows)));
      }
      gaps += missing;
      require<DataError>(gaps <= table.rows(),
                         "'{}' lacks more times than it has at steps of {}, the first {}; expected "
                         "equal steps; without a column of the time, rows follow each other as "
                         "they stand",
                         table.name(), step_text(record), first_gap);
      series.rows.resize(static_cast<std::size_t>(*place), -1);
      series.rows.push_back(row.row);
    }
    aligned.series.push_back(std::move(series));
  }
  if (gaps > 0) {
    aligned.notes.push_back(fmt::format(
        "{} times are missing between steps of {}, the first {}: their values are the last ones "
        "before",
        gaps, step_text(record), first_gap));
  }
  return aligned;
}

}  // namespace linnet
