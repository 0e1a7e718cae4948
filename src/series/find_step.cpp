// SPDX-License-Identifier: Apache-2.0
#include "series/find_step.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "series/calendar.h"

namespace linnet {
namespace {

constexpr std::int64_t kLeastMonth = 28 * kDay;
constexpr double kNear = 0.1;  // of a usual step

/// Steps of clocks and calendars, in seconds.
constexpr std::array<std::int64_t, 22> kUsualSteps{1,         2,    5,        10,       15,
                                                   20,        30,   60,       120,      180,
                                                   300,       600,  900,      1200,     1800,
                                                   3600,      7200, 3 * 3600, 4 * 3600, 6 * 3600,
                                                   12 * 3600, kDay};

struct Unit {
  std::string_view name;
  std::int64_t seconds;
  std::int64_t months;
};
constexpr std::array<Unit, 24> kUnits{
    {{"s", 1, 0},       {"sec", 1, 0},      {"second", 1, 0},      {"seconds", 1, 0},
     {"min", 60, 0},    {"minute", 60, 0},  {"minutes", 60, 0},    {"h", 3600, 0},
     {"hour", 3600, 0}, {"hours", 3600, 0}, {"d", kDay, 0},        {"day", kDay, 0},
     {"days", kDay, 0}, {"w", 7 * kDay, 0}, {"week", 7 * kDay, 0}, {"weeks", 7 * kDay, 0},
     {"month", 0, 1},   {"months", 0, 1},   {"quarter", 0, 3},     {"quarters", 0, 3},
     {"y", 0, 12},      {"year", 0, 12},    {"years", 0, 12},      {"q", 0, 3}}};

/// Takes a step as it was given, e.g. "15min".
void take_step(const std::string& given, SeriesRecord& record) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  std::int64_t count = 1;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), count);
  std::string_view name(given);
  if (error == std::errc()) name.remove_prefix(static_cast<std::size_t>(end - given.data()));
  while (name.starts_with(' ')) name.remove_prefix(1);
  const auto unit = std::ranges::find(kUnits, name, &Unit::name);
  const bool plain = name.empty() && error == std::errc();
  const bool known = record.dates() ? unit != kUnits.end() : plain;
  const bool in_range =
      count >= 1 &&
      count <=
          (record.dates() && known && unit->months > 0
               ? 100
               : kMost / (known && record.dates() ? std::max<std::int64_t>(1, unit->seconds) : 1));
  require(known && in_range, "the step of '{}' is {}; got '{}'", record.time,
          record.dates() ? "a number and a unit: s, min, h, d, w, months, quarters or years, e.g. "
                           "15min"
                         : "a whole number above 0, since times are numbers",
          given);
  record.months = record.dates() && unit->months > 0;
  record.step = !record.dates() ? count : count * (record.months ? unit->months : unit->seconds);
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

std::int64_t median(const std::map<std::int64_t, std::int64_t>& counts) {
  std::int64_t all = 0;
  for (const auto& [value, count] : counts) all += count;
  std::int64_t seen = 0;
  for (const auto& [value, count] : counts) {
    seen += count;
    if (2 * seen >= all) return value;
  }
  return 1;
}

/// The step of a clock that is near, else this one.
std::int64_t usual_step(std::int64_t step) {
  for (const std::int64_t usual : kUsualSteps) {
    const auto wanted = static_cast<double>(usual);
    if (std::abs(static_cast<double>(step) - wanted) <= kNear * wanted) return usual;
  }
  return step < kDay ? step : (step + kDay / 2) / kDay * kDay;
}

std::chrono::year_month_day date_at(std::int64_t time) {
  return {std::chrono::sys_days{std::chrono::days(floor_day(time))}};
}

/// The day of the month on which all times lie, as SeriesRecord::month_day; 0: none.
std::int64_t day_of_months(const std::vector<TimedRows>& all, const SeriesRecord& record) {
  std::int64_t latest = 0;
  for (const TimedRows& series : all) {
    for (const TimedRow& row : series.rows) {
      latest = std::max<std::int64_t>(latest, static_cast<unsigned>(date_at(row.time).day()));
    }
  }
  for (const std::int64_t day : {latest, kLastWorkday, kFirstWorkday}) {
    SeriesRecord months = record;
    months.months = true;
    months.month_day = day;
    const bool fits = std::ranges::all_of(all, [&](const TimedRows& series) {
      return std::ranges::all_of(series.rows, [&](const TimedRow& row) {
        return time_at(months, row.time, 0) == row.time;
      });
    });
    if (fits) return day;
  }
  return 0;
}

/// The differences between the times of neighbours.
struct Differences {
  std::map<std::int64_t, std::int64_t> steps = {};
  std::map<std::int64_t, std::int64_t> months = {};
  bool same_day = true;  ///< of the month
};

Differences differences_of(const std::vector<TimedRows>& all, bool dates) {
  Differences found{.same_day = dates};
  for (const TimedRows& series : all) {
    for (std::size_t i = 1; i < series.rows.size(); ++i) {
      const std::int64_t before = series.rows[i - 1].time;
      const std::int64_t time = series.rows[i].time;
      if (time == before) continue;
      ++found.steps[time - before];
      if (!dates) continue;
      found.same_day = found.same_day && date_at(time).day() == date_at(before).day();
      ++found.months[month_of(time) - month_of(before)];
    }
  }
  return found;
}

void set_common_step(const std::vector<TimedRows>& all, SeriesRecord& record) {
  const Differences found = differences_of(all, record.dates());
  const bool moves = record.off_step == OffStep::nearest;
  record.step =
      moves && record.dates() ? usual_step(median(found.steps)) : most_common(found.steps);
  if (!record.dates() || record.step < kLeastMonth) return;
  if (!found.same_day) record.month_day = day_of_months(all, record);
  record.months = found.same_day || record.month_day > 0 || moves;
  if (record.months) record.step = std::max<std::int64_t>(1, most_common(found.months));
}

}  // namespace

std::vector<std::string> find_step(const Table& table, const SeriesColumns& columns,
                                   const std::string& given, SeriesRecord& record) {
  std::vector<std::string> notes;
  record.step = 1;
  record.months = false;
  record.month_day = 0;
  record.open.clear();
  if (record.time_kind == TimeKind::rows) {
    require(given.empty(), "--step is the time from one row to the next, and '{}' has no times",
            table.name());
    return notes;
  }
  record.step = 0;  // not known: times stay as they are
  std::vector<TimedRows> all = rows_by_time(table, columns, record);
  if (!given.empty()) {
    take_step(given, record);
    if (record.months) record.month_day = day_of_months(all, record);
  } else {
    set_common_step(all, record);
  }
  if (record.off_step == OffStep::nearest) {
    notes.push_back(fmt::format("times are moved to the nearest step of {}", step_text(record)));
    all = rows_by_time(table, columns, record);
  }
  if (record.same_time == SameTime::refuse) check_times(table, columns, record, all);
  if (!record.dates() || record.months) return notes;
  std::vector<std::vector<std::int64_t>> times;
  for (const TimedRows& series : all) {
    std::vector<std::int64_t>& of = times.emplace_back();
    for (const TimedRow& row : series.rows) {
      if (of.empty() || of.back() != row.time) of.push_back(row.time);
    }
  }
  record.open = find_open_times(times, record.step);
  if (!record.open.empty()) {
    notes.push_back(fmt::format("the times keep a calendar, {}: steps pass over its pauses",
                                calendar_text(record)));
  }
  return notes;
}

}  // namespace linnet
