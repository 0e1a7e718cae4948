// SPDX-License-Identifier: Apache-2.0
#include "table/infer_dates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <chrono>
#include <map>
#include <string_view>

namespace linnet {
namespace {

constexpr std::int64_t kSampled = 100;  // values that say whether a column may hold dates
constexpr double kRegular = 0.9;        // of all steps are equal
constexpr std::size_t kLeastTimes = 4;  // of which steps say something
constexpr int kCentury = 100;
constexpr int kLastOfThisCentury = 49;  // the latest of two digits that is 20xx
constexpr std::array<DateOrder, 3> kOrders{DateOrder::year_first, DateOrder::day_first,
                                           DateOrder::month_first};
constexpr std::array<std::string_view, 3> kOrderNames{"year/month/day", "day/month/year",
                                                      "month/day/year"};

/// The dates of a column in an order.
struct Pass {
  DateOrder order = DateOrder::year_first;
  std::int64_t present = 0;
  std::int64_t count = 0;  ///< of dates
  std::size_t other_row = 0;
  bool by_order = false;
  bool zones = false;
  bool half_days = false;
  std::bitset<kCentury> short_years = {};

  bool all() const { return count == present; }
};

Pass pass_of(const TableContents& table, std::size_t column, DateOrder order, std::int64_t most) {
  Pass pass{.order = order};
  const DateReading reading{.order = order};
  for (std::size_t row = 0; row < table.rows() && pass.present < most; ++row) {
    const std::string_view text = table.text(row, column);
    if (text.empty()) continue;
    const std::optional<DateTime> date = date_of(text, reading);
    if (!date && pass.all()) pass.other_row = row;
    ++pass.present;
    if (!date) continue;
    ++pass.count;
    pass.by_order = pass.by_order || date->by_order;
    pass.zones = pass.zones || date->has_zone;
    pass.half_days = pass.half_days || date->half_days;
    if (date->short_year >= 0) pass.short_years.set(static_cast<std::size_t>(date->short_year));
  }
  return pass;
}

/// Returns from which year on two digits are read: the years of the column lie together, in the
/// middle of the hundred.
int first_year(const std::bitset<kCentury>& years) {
  int last = 0;      // before the longest gap
  int longest = -1;  // years that do not occur
  for (int year = 0; year < kCentury; ++year) {
    if (!years[static_cast<std::size_t>(year)]) continue;
    int gap = 0;
    while (gap < kCentury - 1 && !years[static_cast<std::size_t>((year + gap + 1) % kCentury)]) {
      ++gap;
    }
    if (gap > longest) {
      longest = gap;
      last = year;
    }
  }
  const int full = last + (last <= kLastOfThisCentury ? 2000 : 1900);
  const int first = full - (kCentury - 1 - longest);
  return first - longest / 2;
}

/// How evenly times lie.
struct Regularity {
  double share = 0;       ///< of steps that equal the most common one, of seconds or months
  std::int64_t span = 0;  ///< seconds
};

Regularity regularity_of(const TableContents& table, std::size_t column,
                         const DateReading& reading) {
  std::vector<std::int64_t> times;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::optional<DateTime> date = date_of(table.text(row, column), reading);
    if (date) times.push_back(date->day * 86400 + static_cast<std::int64_t>(date->seconds));
  }
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  if (times.size() < kLeastTimes) return {};
  std::map<std::int64_t, std::size_t> steps;
  std::map<std::int64_t, std::size_t> months;
  std::size_t most = 0;
  const auto date_at = [](std::int64_t time) {
    const std::chrono::sys_seconds point{std::chrono::seconds(time)};
    return std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(point));
  };
  for (std::size_t i = 1; i < times.size(); ++i) {
    most = std::max(most, ++steps[times[i] - times[i - 1]]);
    const auto before = date_at(times[i - 1]);
    const auto now = date_at(times[i]);
    if (before.day() != now.day()) continue;
    const auto apart = now.year() / now.month() - before.year() / before.month();
    most = std::max(most, ++months[apart.count()]);
  }
  return {.share = static_cast<double>(most) / static_cast<double>(times.size() - 1),
          .span = times.back() - times.front()};
}

/// Chooses among orders that all read a column's dates, in different ways.
const Pass& chosen(const TableContents& table, std::size_t column,
                   const std::vector<Pass>& passes) {
  const Pass* best = nullptr;
  Regularity most{.share = kRegular};
  for (const Pass& pass : passes) {
    const DateReading reading{.order = pass.order, .first_year = first_year(pass.short_years)};
    const Regularity here = regularity_of(table, column, reading);
    const bool nearer = best != nullptr && here.share == most.share && here.span < most.span;
    if (here.share <= most.share && !nearer) continue;
    most = here;
    best = &pass;
  }
  if (best != nullptr) return *best;
  const DateOrder usual = passes[0].half_days ? DateOrder::month_first : DateOrder::day_first;
  const auto found = std::ranges::find(passes, usual, &Pass::order);
  return found == passes.end() ? passes[0] : *found;
}

}  // namespace

std::optional<ColumnDates> find_dates(const TableContents& table, std::size_t column,
                                      std::optional<DateOrder> order) {
  std::vector<Pass> passes;
  for (const DateOrder tried : kOrders) {
    if (order && tried != *order) continue;
    const Pass sample = pass_of(table, column, tried, kSampled);
    if (sample.count == 0 || 2 * sample.count < sample.present) continue;
    Pass pass = sample.present < kSampled
                    ? sample
                    : pass_of(table, column, tried, static_cast<std::int64_t>(table.rows()));
    const bool done = pass.all() && !pass.by_order;
    if (done) passes.clear();
    passes.push_back(std::move(pass));
    if (done) break;
  }
  if (passes.empty()) return std::nullopt;
  const std::int64_t most = std::ranges::max(passes, {}, &Pass::count).count;
  std::erase_if(passes, [&](const Pass& pass) { return pass.count < most; });
  const Pass& pass =
      passes.size() == 1 || !passes[0].by_order ? passes[0] : chosen(table, column, passes);
  ColumnDates dates{.reading = {.order = pass.order},
                    .count = pass.count,
                    .other_row = pass.other_row};
  const std::string& name = table.columns[column].name;
  if (passes.size() > 1 && pass.by_order) {
    dates.notes.push_back(
        fmt::format("the dates of '{}' are read as {} (--date-order reads them otherwise)", name,
                    kOrderNames[static_cast<std::size_t>(pass.order)]));
  }
  if (pass.short_years.any()) {
    dates.reading.first_year = first_year(pass.short_years);
    dates.notes.push_back(fmt::format("the years of '{}', of two digits, are read as {} to {}",
                                      name, dates.reading.first_year,
                                      dates.reading.first_year + kCentury - 1));
  }
  if (pass.zones) {
    dates.notes.push_back(
        fmt::format("the times of '{}' have offsets from UTC and are read as UTC", name));
  }
  return dates;
}

}  // namespace linnet
