// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "series/series_record.h"

namespace linnet {

/// What fit_series() is told; see SeriesTaskOptions.
struct SeriesFit {
  std::vector<std::string> targets = {};
  std::string time = {};
  std::string entity = {};
  std::int64_t past = 0;
  std::int64_t future = 1;
  std::vector<std::string> known = {};
  std::vector<std::string> ignore = {};
  std::int64_t season = 0;
  std::string step = {};
  SameTime same_time = SameTime::refuse;
  OffStep off_step = OffStep::refuse;
  double validation = 0;
  double test = 0;
};

/// A record, and the times at which parts begin.
struct FittedSeries {
  std::shared_ptr<const SeriesRecord> record;
  std::int64_t validation_from = 0;
  std::int64_t test_from = 0;
  std::vector<std::string> notes = {};
};

/// Learns all that a record holds from the rows before the validation set.
FittedSeries fit_series(const Table& table, const SeriesFit& options);

/// The steps of a season: the highest of the peaks of the autocorrelation, of at least 0.2, less
/// a line, that stand out from all lags within a quarter of theirs; 1: none. `all`: the values of
/// each series. Lags reach up to 1000 and a third of the longest series.
std::int64_t find_season(std::span<const std::vector<double>> all);
/// The season of the calendar that is within 5 % of this one, else this one: 7 or 365 of days, 24,
/// 168 or 8766 of hours, 52 of weeks, 12 of months.
std::int64_t calendar_season(std::int64_t season, const SeriesRecord& record);

}  // namespace linnet
