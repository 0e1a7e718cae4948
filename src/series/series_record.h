// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/series_transform.h>

#include <cstdint>
#include <string>
#include <vector>

#include "table/dates.h"
#include "table/given_reading.h"
#include "table/values.h"

namespace linnet {

inline constexpr std::int64_t kDay = 86400;                        // seconds
inline constexpr std::int64_t kMostSteps = std::int64_t{1} << 20;  // of a window's past or future

/// Returns the day since 1970-01-01 of a time in seconds since then, which may be negative.
constexpr std::int64_t floor_day(std::int64_t time) {
  return (time >= 0 ? time : time - kDay + 1) / kDay;
}

/// What the time of a row is.
enum class TimeKind : std::uint8_t {
  rows,     ///< the row's number in its series
  number,   ///< a whole number
  date,     ///< a date that date_of() reads
  compact,  ///< a date of eight digits, 20240331, or six, 202403
};

/// A part of the week in which steps lie, in seconds since Monday, 00:00; both ends are times.
struct OpenTime {
  std::int64_t from = 0;
  std::int64_t to = 0;
  bool operator==(const OpenTime&) const = default;
};

// Days of a month that depend on it, beside 1 to 31.
inline constexpr std::int64_t kLastWorkday = 32;   ///< the last from Monday to Friday
inline constexpr std::int64_t kFirstWorkday = 33;  ///< the first one

/// What a column of a series holds.
enum class SeriesColumnKind : std::uint8_t { number, boolean, category };

/// A column that becomes channels: a number (x - mean) / std, a boolean 0 or 1, a category a
/// channel for what is unknown and one for each of `categories`.
struct SeriesColumn {
  std::string column = {};
  SeriesColumnKind kind = SeriesColumnKind::number;
  double mean = 0;
  double std = 1;
  std::vector<std::string> categories = {};
  bool indicator = false;  ///< a further channel is 1 where the value is missing
  bool known = false;      ///< known ahead
  /// Least and largest number of the training rows; empty where an older file does not say.
  std::vector<double> range = {};

  std::int64_t width() const {
    return (kind == SeriesColumnKind::category ? std::ssize(categories) + 1 : 1) +
           (indicator ? 1 : 0);
  }
};

/// A column that is forecast, beside its channel.
struct SeriesTarget {
  double offset = 0;       ///< taken off its values, where 32 bits would not tell them apart
  double change = 1;       ///< root mean square of the change over a window's future
  double naive_error = 0;  ///< mean absolute error of the seasonal naive forecast
  bool trend = false;      ///< it rises or falls with time: networks see differences
};

/// What a SeriesTransform knows, all of it from the rows of the training set but for columns and
/// times.
struct SeriesRecord {
  LearnedReading learned = {};            ///< of the rows that it learned from
  std::vector<std::string> columns = {};  ///< of the file, in order
  std::string time = {};                  ///< column; "": rows
  std::string time_of_day = {};           ///< column of the times of day of its dates; "": none
  TimeKind time_kind = TimeKind::rows;
  DateReading reading = {};  ///< of dates
  std::string form = {};     ///< of dates, for date_text()
  bool months = false;       ///< a step is so many months, else so many seconds or units
  /// Day of the month of all times, or its last where it is shorter: 31 for ends of months;
  /// kLastWorkday, kFirstWorkday. 0: that of a series' first time.
  std::int64_t month_day = 0;
  std::int64_t step = 1;  ///< from one row to the next
  /// First and last time of the file that it was fitted on; empty: an older file, or no times.
  std::vector<double> times = {};
  std::vector<OpenTime> open = {};  ///< in order, where series pause between; empty: they do not
  SameTime same_time = SameTime::refuse;
  OffStep off_step = OffStep::refuse;
  std::string entity = {};                 ///< column; "": one series
  std::vector<std::string> entities = {};  ///< of the training set
  std::int64_t past = 1;
  std::int64_t future = 1;
  std::int64_t season = 1;
  std::vector<SeriesTarget> targets = {};  ///< of the first `inputs`
  std::vector<SeriesColumn> inputs = {};

  bool dates() const { return time_kind == TimeKind::date || time_kind == TimeKind::compact; }
  /// "year", "week", "day": cycles that are longer than two steps.
  std::vector<std::string> cycles() const;
  std::int64_t channels() const;
  std::int64_t known_channels() const;
};

/// "7 days", "1 month", "15 minutes", "2 units".
std::string step_text(const SeriesRecord& record);
/// A time as the file writes it.
std::string time_text(const SeriesRecord& record, std::int64_t time);

/// The record as JSON, {"version": 1, "past": 30, ...}.
std::string json_of(const SeriesRecord& record);
/// Throws DataError for any other text, and for numbers out of range.
SeriesRecord series_record_from(const std::string& text);

}  // namespace linnet
