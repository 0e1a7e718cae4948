// SPDX-License-Identifier: Apache-2.0
// Weeks with pauses: business days, sessions.
#include "series/calendar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <map>
#include <set>
#include <string_view>

#include "base/join.h"

namespace linnet {
namespace {

constexpr std::int64_t kDays = 7;
constexpr std::int64_t kWeek = kDays * kDay;
constexpr std::int64_t kMonday = 3 * kDay;  // 1970-01-01 was a Thursday
constexpr std::int64_t kLeastWeeks = 3;     // of which each time of the week says something
constexpr std::int64_t kRare = 10;          // times that are so many times rarer are exceptions
constexpr double kMostHoliday = 10;         // days of a pause
constexpr std::int64_t kLongPause = kDay / 2;
constexpr std::array<std::string_view, 7> kNames{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                 "Friday", "Saturday", "Sunday"};

std::int64_t second_of_week(std::int64_t time) {
  return ((time + kMonday) % kWeek + kWeek) % kWeek;
}

using Series = std::span<const std::vector<std::int64_t>>;

/// The times of the week of long series: those that occur in a tenth of the weeks, at least.
std::set<std::int64_t> times_of_weeks(Series series) {
  std::map<std::int64_t, std::int64_t> counts;
  std::int64_t most = 0;
  for (const std::vector<std::int64_t>& times : series) {
    for (const std::int64_t time : times) most = std::max(most, ++counts[second_of_week(time)]);
  }
  std::set<std::int64_t> usual;
  if (most < kLeastWeeks) return usual;
  for (const auto& [second, count] : counts) {
    if (kRare * count >= most) usual.insert(second);
  }
  return usual;
}

/// The times of the week of series that are too short for that: every time of the day, on the
/// weekdays that have some or that the series do not reach. Of days as steps, only Saturday and
/// Sunday may be without.
std::set<std::int64_t> times_of_days(Series series, std::int64_t step) {
  std::set<std::int64_t> of_day;
  std::bitset<kDays> seen;
  std::bitset<kDays> passed;
  for (const std::vector<std::int64_t>& times : series) {
    if (times.empty()) continue;
    for (const std::int64_t time : times) {
      of_day.insert(second_of_week(time) % kDay);
      seen.set(static_cast<std::size_t>(second_of_week(time) / kDay));
    }
    for (std::int64_t day = floor_day(times.front()); day < floor_day(times.back()); ++day) {
      passed.set(static_cast<std::size_t>(second_of_week(day * kDay) / kDay));
      if (passed.all()) break;
    }
  }
  constexpr std::size_t kSaturday = 5;
  std::set<std::int64_t> all;
  for (std::size_t day = 0; day < kDays; ++day) {
    const bool may_pause = step < kDay || day >= kSaturday;
    if (!seen[day] && passed[day] && may_pause) continue;
    for (const std::int64_t second : of_day) {
      all.insert(static_cast<std::int64_t>(day) * kDay + second);
    }
  }
  return all;
}

/// Joins times that are a step apart. Nothing where no pause is left.
std::vector<OpenTime> joined(const std::set<std::int64_t>& seconds, std::int64_t step) {
  std::vector<OpenTime> open;
  for (const std::int64_t second : seconds) {
    if (!open.empty() && second - open.back().to <= step) {
      open.back().to = second;
    } else {
      open.push_back({second, second});
    }
  }
  if (open.size() == 1 && open[0].from + kWeek - open[0].to <= step) open.clear();
  return open;
}

/// The part that holds a time; null: none.
const OpenTime* part_of(const std::vector<OpenTime>& open, std::int64_t time) {
  const std::int64_t second = second_of_week(time);
  for (const OpenTime& part : open) {
    if (second >= part.from && second <= part.to) return &part;
  }
  return nullptr;
}

std::int64_t next_open(const std::vector<OpenTime>& open, std::int64_t step, std::int64_t time) {
  if (open.empty() || part_of(open, time + step) != nullptr) return time + step;
  const std::int64_t second = second_of_week(time);
  for (const OpenTime& part : open) {
    if (part.from > second) return time + part.from - second;
  }
  return time + kWeek + open.front().from - second;
}

/// Whether no pause of the calendar lies between two times.
bool are_together(const std::vector<OpenTime>& open, std::int64_t time, std::int64_t later) {
  const OpenTime* part = part_of(open, time);
  return part != nullptr && part == part_of(open, later) &&
         later - time == second_of_week(later) - second_of_week(time);
}

std::string clock(std::int64_t second) {
  return fmt::format("{:02}:{:02}", second % kDay / 3600, second / 60 % 60);
}

}  // namespace

std::vector<OpenTime> find_open_times(Series series, std::int64_t step) {
  std::int64_t span = 0;
  std::int64_t rows = 0;
  for (const std::vector<std::int64_t>& times : series) {
    if (times.empty()) continue;
    span = std::max(span, times.back() - times.front());
    rows += std::ssize(times);
  }
  if (step > kDay || rows < 2 || span < 2 * kDay) return {};
  std::vector<OpenTime> open =
      joined(span >= kLeastWeeks * kWeek ? times_of_weeks(series) : times_of_days(series, step),
             step);
  if (open.empty()) return {};
  std::int64_t lacking = 0;
  std::int64_t explained = 0;
  for (const std::vector<std::int64_t>& times : series) {
    for (std::size_t i = 1; i < times.size(); ++i) {
      const std::int64_t between = std::max<std::int64_t>(1, (times[i] - times[i - 1]) / step) - 1;
      lacking += between;
      if (between > 0 && !are_together(open, times[i - 1], times[i])) explained += between;
    }
  }
  if (2 * explained < lacking || explained == 0) open.clear();
  return open;
}

std::int64_t next_open(const SeriesRecord& record, std::int64_t time) {
  return next_open(record.open, record.step, time);
}

std::optional<std::int64_t> missing_between(const SeriesRecord& record, std::int64_t time,
                                            std::int64_t later, std::int64_t most) {
  const bool together = are_together(record.open, time, later);
  const std::int64_t apart = later - time;
  if (together && apart % record.step != 0) return std::nullopt;
  if (together && record.step < kDay && apart <= kLongPause) return apart / record.step - 1;
  const auto holiday = static_cast<std::int64_t>(kMostHoliday * steps_of_day(record));
  const std::int64_t limit = std::max(most, holiday);
  std::int64_t count = 0;
  for (std::int64_t at = next_open(record, time); at < later && count <= limit; ++count) {
    at = next_open(record, at);
  }
  return count <= holiday ? 0 : count;
}

bool is_holiday(const SeriesRecord& record, std::int64_t time, std::int64_t later) {
  return later - time > record.step && next_open(record, time) < later;
}

double steps_of_week(const SeriesRecord& record) {
  double steps = 0;
  for (const OpenTime& part : record.open) {
    steps += static_cast<double>((part.to - part.from) / record.step + 1);
  }
  return record.open.empty() ? static_cast<double>(kWeek) / static_cast<double>(record.step)
                             : steps;
}

double steps_of_day(const SeriesRecord& record) {
  if (record.open.empty()) return steps_of_week(record) / kDays;
  std::array<std::int64_t, kDays> steps{};
  for (const OpenTime& part : record.open) {
    for (std::int64_t day = part.from / kDay; day <= part.to / kDay; ++day) {
      const std::int64_t from = std::max(part.from, day * kDay);
      const std::int64_t to = std::min(part.to, (day + 1) * kDay - 1);
      steps[static_cast<std::size_t>(day)] += (to - from) / record.step + 1;
    }
  }
  return static_cast<double>(std::ranges::max(steps));
}

std::string calendar_text(const SeriesRecord& record) {
  // The sessions of each weekday as text, those that last overnight as the parts of its days.
  std::array<std::string, kDays> of_day;
  for (const OpenTime& part : record.open) {
    for (std::int64_t day = part.from / kDay; day <= part.to / kDay; ++day) {
      std::string& text = of_day[static_cast<std::size_t>(day)];
      const std::int64_t from = std::max(part.from, day * kDay);
      const std::int64_t to = std::min(part.to, (day + 1) * kDay - record.step);
      if (record.step == kDay) {
        text = "all";
      } else {
        text += fmt::format("{}{} to {}", text.empty() ? "" : " and ", clock(from), clock(to));
      }
    }
  }
  std::vector<std::string> parts;
  for (std::size_t day = 0; day < of_day.size();) {
    std::size_t end = day + 1;
    while (end < of_day.size() && of_day[end] == of_day[day]) ++end;
    if (!of_day[day].empty()) {
      parts.push_back(fmt::format("{}{}{}", kNames[day],
                                  end > day + 1 ? fmt::format(" to {}", kNames[end - 1]) : "",
                                  record.step == kDay ? "" : fmt::format(", {}", of_day[day])));
    }
    day = end;
  }
  return join(parts, "; ");
}

}  // namespace linnet
