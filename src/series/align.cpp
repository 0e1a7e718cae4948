// SPDX-License-Identifier: Apache-2.0
#include "series/align.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "describe/nearest.h"
#include "series/calendar.h"

namespace linnet {
namespace {

constexpr std::int64_t kMostTime = std::int64_t{1} << 53;

std::chrono::year_month_day date_at(std::int64_t time) {
  return {std::chrono::sys_days{std::chrono::days(floor_day(time))}};
}

std::chrono::day last_day(const std::chrono::year_month& month) {
  return std::chrono::year_month_day_last(month.year(), std::chrono::month_day_last(month.month()))
      .day();
}

/// The day of a month that SeriesRecord::month_day means; `first`: of a series' first time.
std::chrono::sys_days day_in(const std::chrono::year_month& month, std::int64_t month_day,
                             std::chrono::day first) {
  const std::chrono::day last = last_day(month);
  if (month_day == kLastWorkday || month_day == kFirstWorkday) {
    const bool at_end = month_day == kLastWorkday;
    std::chrono::sys_days day(month / (at_end ? last : std::chrono::day(1)));
    while (std::chrono::weekday(day).iso_encoding() > 5) day += std::chrono::days(at_end ? -1 : 1);
    return day;
  }
  const std::chrono::day wanted =
      month_day > 0 ? std::chrono::day(static_cast<unsigned>(month_day)) : first;
  return month / std::min(wanted, last);
}

/// Moves a time to the nearest step.
std::int64_t nearest_step(const SeriesRecord& record, std::int64_t time) {
  if (record.months) {
    const std::int64_t month = month_of(time);
    const std::int64_t first = month - ((month % record.step) + record.step) % record.step;
    const std::chrono::year_month of(std::chrono::year(static_cast<int>(first / 12)),
                                     std::chrono::month(static_cast<unsigned>(first % 12 + 1)));
    return day_in(of, record.month_day, std::chrono::day(1)).time_since_epoch().count() * kDay;
  }
  // Weeks begin on Mondays.
  constexpr std::int64_t kWeek = 7 * kDay;
  const std::int64_t origin = record.dates() && record.step % kWeek == 0 ? 4 * kDay : 0;
  const std::int64_t apart = time - origin + record.step / 2;
  const std::int64_t past = ((apart % record.step) + record.step) % record.step;
  return origin + apart - past;
}

}  // namespace

std::int64_t month_of(std::int64_t time) {
  const std::chrono::year_month_day date = date_at(time);
  return 12 * static_cast<std::int64_t>(static_cast<int>(date.year())) +
         static_cast<unsigned>(date.month()) - 1;
}

std::vector<TimedRows> rows_by_time(const Table& table, const SeriesColumns& columns,
                                    const SeriesRecord& record, bool* sorted) {
  const std::vector<std::int64_t> times = read_times(table, record, columns);
  const std::optional<std::size_t> entity =
      record.entity.empty() ? std::nullopt : std::optional(columns.need(record.entity));
  std::vector<TimedRows> groups;
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
  for (TimedRows& group : groups) {
    const auto by_time = [](const TimedRow& a, const TimedRow& b) { return a.time < b.time; };
    if (std::ranges::is_sorted(group.rows, by_time)) continue;
    if (sorted != nullptr) *sorted = false;
    std::ranges::stable_sort(group.rows, by_time);
  }
  return groups;
}

void check_times(const Table& table, const SeriesColumns& columns, const SeriesRecord& record,
                 const std::vector<TimedRows>& groups) {
  for (const TimedRows& group : groups) {
    for (std::size_t i = 1; i < group.rows.size(); ++i) {
      if (group.rows[i].time != group.rows[i - 1].time) continue;
      const std::size_t column = columns.need(record.time);
      const std::string_view text = table.text(group.rows[i].row, column);
      const std::string_view before = table.text(group.rows[i - 1].row, column);
      require<DataError>(
          text == before || record.off_step == OffStep::nearest,
          "{}: the time {} is that of row {}, {}, in whole seconds and UTC; expected one row for "
          "each time; --same-time says what becomes of them",
          table.place(group.rows[i].row, column), text, group.rows[i - 1].row + 1, before);
      fail<DataError>(
          "{}: the time {} occurs twice{} (also in row {}); expected one row for each time; "
          "--same-time says what becomes of them, --entity names a column that tells several "
          "series apart",
          table.place(group.rows[i].row, column), table.text(group.rows[i].row, column),
          group.entity.empty() ? "" : fmt::format(" in the series '{}'", group.entity),
          group.rows[i - 1].row + 1);
    }
  }
}

namespace {

/// The steps from `first` to `time`; nothing where it is between two.
std::optional<std::int64_t> steps_between(const SeriesRecord& record, std::int64_t first,
                                          std::int64_t time) {
  const std::int64_t apart = record.months ? month_of(time) - month_of(first) : time - first;
  if (apart % record.step != 0) return std::nullopt;
  const std::int64_t steps = apart / record.step;
  if (record.months && time_at(record, first, steps) != time) return std::nullopt;
  return steps;
}

/// Puts the rows of series on steps, and rows without values between them.
class Alignment {
 public:
  Alignment(const Table& table, const SeriesColumns& columns, const SeriesRecord& record)
      : table_(table), columns_(columns), record_(record) {}

  AlignedSeries align(const TimedRows& group) {
    AlignedSeries series{.entity = group.entity};
    for (const TimedRow& row : group.rows) {
      if (!series.times.empty()) add_missing(series, row);
      series.rows.push_back(row.row);
      series.times.push_back(row.time);
    }
    return series;
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    if (gaps_ > 0) {
      notes.push_back(fmt::format(
          "{} times are missing between steps of {}, the first {}: their values are the last ones "
          "before",
          gaps_, step_text(record_), first_gap_));
    }
    if (holidays_ > 0) {
      notes.push_back(
          fmt::format("{} further pauses of the calendar, such as that before {}, are "
                      "holidays, not missing rows",
                      holidays_, first_holiday_));
    }
    return notes;
  }

 private:
  void add_missing(AlignedSeries& series, const TimedRow& row) {
    const std::int64_t before = series.times.back();
    const std::int64_t steps = std::ssize(series.times);
    const bool calendar = !record_.open.empty();
    std::optional<std::int64_t> missing;
    if (calendar) {
      missing = missing_between(record_, before, row.time, table_.rows());
    } else if (const auto place = steps_between(record_, series.times.front(), row.time)) {
      missing = *place - steps;
    }
    if (!missing) {
      fail<DataError>(
          "{}: the time {} lies between two steps of {}, counted from {}; expected equal steps; "
          "--off-step nearest moves such times, --step gives another step, and with --time none "
          "rows follow each other as they stand",
          table_.place(row.row, columns_.need(record_.time)),
          table_.text(row.row, columns_.need(record_.time)), step_text(record_),
          time_text(record_, series.times.front()));
    }
    if (calendar && *missing == 0 && is_holiday(record_, before, row.time)) {
      if (++holidays_ == 1) first_holiday_ = time_text(record_, row.time);
    }
    const auto missing_time = [&](std::int64_t i) {
      return calendar ? next_open(record_, series.times.back())
                      : time_at(record_, series.times.front(), steps + i);
    };
    if (*missing > 0 && first_gap_.empty()) first_gap_ = time_text(record_, missing_time(0));
    gaps_ += *missing;
    require<DataError>(gaps_ <= table_.rows(),
                       "'{}' lacks more times than it has at steps of {}, the first {}; expected "
                       "equal steps; --step gives another step, and with --time none rows follow "
                       "each other as they stand",
                       table_.name(), step_text(record_), first_gap_);
    for (std::int64_t i = 0; i < *missing; ++i) {
      series.rows.push_back(-1);
      series.times.push_back(missing_time(i));
    }
  }

  const Table& table_;
  const SeriesColumns& columns_;
  const SeriesRecord& record_;
  std::int64_t gaps_ = 0;
  std::int64_t holidays_ = 0;
  std::string first_gap_ = {};
  std::string first_holiday_ = {};
};

}  // namespace

SeriesColumns::SeriesColumns(const SeriesRecord& record, const Table& table)
    : record_(record), table_(table), by_name_(record.learned.header && table.has_header()) {
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
  const std::chrono::sys_days day = day_in(month, record.month_day, from.day());
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
      if (!number || *number != std::round(*number) || std::abs(*number) >= kMostTime) {
        fail<DataError>("{}: expected a whole number as time; got '{}'", table.place(row, column),
                        in_message(text));
      }
      time = static_cast<std::int64_t>(*number);
      continue;
    }
    const std::optional<DateTime> date = record.time_kind == TimeKind::compact
                                             ? compact_date_of(text)
                                             : date_of(text, record.reading);
    if (!date) {
      fail<DataError>("{}: expected a date such as {}; got '{}'", table.place(row, column),
                      time_text(record, 0), in_message(text));
    }
    time = date->day * kDay + static_cast<std::int64_t>(date->seconds);
  }
  if (record.off_step == OffStep::nearest && record.step > 0) {
    for (std::int64_t& time : times) time = nearest_step(record, time);
  }
  return times;
}

AlignedRows align(const Table& table, const SeriesColumns& columns, const SeriesRecord& record) {
  AlignedRows aligned;
  bool sorted = true;
  const std::vector<TimedRows> groups = rows_by_time(table, columns, record, &sorted);
  check_times(table, columns, record, groups);
  if (!sorted) aligned.notes.emplace_back("the rows are sorted by time");
  Alignment alignment(table, columns, record);
  for (const TimedRows& group : groups) aligned.series.push_back(alignment.align(group));
  for (std::string& note : alignment.notes()) aligned.notes.push_back(std::move(note));
  return aligned;
}

}  // namespace linnet
