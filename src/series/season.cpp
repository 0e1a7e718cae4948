// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "series/calendar.h"
#include "series/fit_series.h"

namespace linnet {
namespace {

constexpr std::int64_t kMostLag = 1000;
constexpr double kLeastPeak = 0.2;
constexpr double kLeastRise = 0.05;  // from the lowest lag before a peak
constexpr double kNear = 0.05;
/// A longer season has a correlation that is so many times as high: multiples of a season are often
/// a little higher by chance.
constexpr double kHigher = 1.15;

/// Values less their line of least squares.
std::vector<double> without_line(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double slope = 0;
  double spread = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double at = static_cast<double>(i) - (n - 1) / 2;
    slope += at * (values[i] - mean);
    spread += at * at;
  }
  slope = spread > 0 ? slope / spread : 0;
  std::vector<double> left(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    left[i] = values[i] - mean - slope * (static_cast<double>(i) - (n - 1) / 2);
  }
  return left;
}

}  // namespace

std::int64_t find_season(std::span<const std::vector<double>> all) {
  std::size_t longest = 0;
  for (const std::vector<double>& values : all) longest = std::max(longest, values.size());
  const std::int64_t most =
      std::min<std::int64_t>(kMostLag, static_cast<std::int64_t>(longest / 3));
  std::vector<double> correlation(static_cast<std::size_t>(most + 1));
  for (const std::vector<double>& values : all) {
    const std::vector<double> x = without_line(values);
    for (std::size_t lag = 0; lag < correlation.size(); ++lag) {
      for (std::size_t i = lag; i < x.size(); ++i) correlation[lag] += x[i] * x[i - lag];
    }
  }
  if (most < 2 || !(correlation[0] > 0) || !std::isfinite(correlation[0])) return 1;
  for (std::size_t lag = correlation.size(); lag-- > 0;) correlation[lag] /= correlation[0];
  std::int64_t season = 1;
  double highest = kLeastPeak;
  double lowest = correlation[1];
  for (std::int64_t lag = 2; lag < most; ++lag) {
    const double here = correlation[static_cast<std::size_t>(lag)];
    const std::int64_t around = std::max<std::int64_t>(1, lag / 4);
    const auto from = correlation.begin() + std::max<std::int64_t>(1, lag - around);
    const auto to = correlation.begin() + std::min(most, lag + around) + 1;
    const bool peak = here >= *std::max_element(from, to) && here - lowest >= kLeastRise;
    if (peak && here > highest * (season > 1 ? kHigher : 1)) {
      highest = here;
      season = lag;
    }
    lowest = std::min(lowest, here);
  }
  return season;
}

std::int64_t calendar_season(std::int64_t season, const SeriesRecord& record) {
  if (!record.dates() || season <= 1) return season;
  constexpr double kMonth = 30.436875;  // days
  const double week =
      record.months ? 7 / (kMonth * static_cast<double>(record.step)) : steps_of_week(record);
  const double day = record.months ? week / 7 : steps_of_day(record);
  for (const double steps : {365.25 / 7 * week, week, day}) {
    const auto whole = static_cast<std::int64_t>(std::llround(steps));
    if (whole >= 2 && std::abs(static_cast<double>(season) - steps) <= kNear * steps) return whole;
  }
  return season;
}

}  // namespace linnet
