// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/tables.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {
struct SeriesRecord;
struct WindowContents;
}  // namespace linnet

LINNET_API_BEGIN
namespace linnet {

/// Names what becomes of several rows of a series that have the same time.
enum class SameTime : std::uint8_t {
  refuse,  ///< an error that names the row
  first,   ///< the first row is taken
  last,    ///< the last row is taken
  mean,    ///< numbers become their mean; of other values the last is taken
  sum,     ///< numbers become their sum; of other values the last is taken
};

/// Names what becomes of a time between two steps.
enum class OffStep : std::uint8_t {
  refuse,   ///< an error that names the row
  nearest,  ///< it moves to the nearest step, counted from midnight, or to its month
};

/// Returns the names of all choices: "refuse", ...
std::vector<std::string_view> same_time_names();
std::vector<std::string_view> off_step_names();  ///< Returns "refuse", "nearest".

/// Names a window of a series: where it lies.
struct SeriesPlace {
  std::string entity = {};  ///< its series; "" where there is one
  std::string time = {};  ///< time of a step as the file writes it; the row's number without times
};

/// Holds windows over series: `past` steps that a model sees, and the `future` steps after them
/// that it forecasts. A view: rows are stored once, and windows are copied when a batch needs them.
/// A cheap handle. May be used by several threads at once.
class SeriesWindows {
 public:
  /// Holds no windows.
  SeriesWindows() = default;

  /// Returns the number of windows.
  std::int64_t size() const;
  /// Returns the windows as samples. Inputs: "past", f32 (N, past, channels), standardised;
  /// "future", f32 (N, future, known channels), where something is known ahead; "entity", i32
  /// (N, 1), where there are several series. Targets: f32 (N, future) for each target column, under
  /// its name and in its unit.
  Dataset data() const;
  /// Returns a target's true value, `step` from 0 in the forecast part of a window.
  double actual(std::int64_t window, std::int64_t step, std::size_t target) const;
  /// Returns the target's last value of the past: the forecast "nothing changes".
  double persistence(std::int64_t window, std::size_t target) const;
  /// Returns the target's value whole seasons ago, in the last season before the forecast; NaN
  /// where the series begins later, or there is no season.
  double seasonal_naive(std::int64_t window, std::int64_t step, std::size_t target) const;
  /// Returns the series and the time of a forecast step, from 0.
  SeriesPlace place(std::int64_t window, std::int64_t step) const;
  /// Returns sentences on what was decided about the rows: order, gaps, missing values.
  const std::vector<std::string>& notes() const;

  /// @cond
  // For the library.
  SeriesWindows(std::shared_ptr<const WindowContents> contents,
                std::shared_ptr<const std::vector<std::int64_t>> starts)
      : contents_(std::move(contents)), starts_(std::move(starts)) {}
  const std::shared_ptr<const WindowContents>& contents() const { return contents_; }
  /// @endcond

 private:
  std::shared_ptr<const WindowContents> contents_;           // null: no windows
  std::shared_ptr<const std::vector<std::int64_t>> starts_;  // first row of each window
};

/// Turns the rows of a table into windows of series, as it was fitted on the rows of the training
/// part: series_task() makes one, and model files hold it (Model::set_series()). A cheap handle of
/// something that never changes. May be used by several threads at once.
///
/// Rows are sorted by time, series by series. Times that the file lacks become rows without values,
/// but not those of a calendar that the training rows keep: weekends, nights, and holidays of a
/// series that pauses at these. There, steps follow each other as the rows do.
/// A missing value is the last one before it (at the beginning the training's mean), and a channel
/// says so where the training missed some. The time itself becomes sine and cosine of the year, the
/// week and the day, as far as steps are shorter than these; they are known ahead.
class SeriesTransform {
 public:
  /// Makes a transform that is empty: of no columns.
  SeriesTransform() = default;

  /// Returns whether there is nothing to transform.
  bool empty() const { return record_ == nullptr; }
  /// Returns the names of the target columns.
  std::vector<std::string> targets() const;
  /// Returns the name of the column of the time; "" without one.
  const std::string& time_column() const;
  /// Returns the name of the column that tells series apart; "" without one.
  const std::string& entity_column() const;
  /// Returns the steps that a model sees.
  std::int64_t past() const;
  /// Returns the steps that it forecasts.
  std::int64_t future() const;
  /// Returns the steps of a season; 1: none.
  std::int64_t season() const;
  /// Returns the names of the channels of the input "past", e.g. "temp", "temp missing", "year
  /// sine"; the targets are the first ones.
  std::vector<std::string> channels() const;
  /// Returns the names of the channels that are known ahead, those of the input "future".
  std::vector<std::string> known_channels() const;
  /// Returns the number of places of an Embedding of the series: 1 for those that the training did
  /// not have, then the training's; 0 where there is one series.
  std::int64_t entities() const;
  /// Returns how a table of such rows is to be read: the texts that stand for missing values, and
  /// that there is no header where there was none.
  TableOptions reading() const;

  /// Returns all windows of these rows whose forecast part holds all targets. Columns belong
  /// together by name, or by place where either table has no header. Throws DataError naming the
  /// column that is missing; naming the row for a time that is missing, occurs twice or is between
  /// two steps, and for a text where a number was expected; and where no window is left.
  SeriesWindows windows(const Table& rows) const;

  /// Returns the transform as JSON, as model files hold it.
  std::string to_json() const;
  /// Returns the transform of a text that to_json() wrote. Throws DataError for any other text.
  static SeriesTransform from_json(const std::string& text);

  /// @cond
  // For the library.
  explicit SeriesTransform(std::shared_ptr<const SeriesRecord> record)
      : record_(std::move(record)) {}
  const std::shared_ptr<const SeriesRecord>& record() const { return record_; }
  /// @endcond

 private:
  std::shared_ptr<const SeriesRecord> record_;  // null: empty
};

}  // namespace linnet
LINNET_API_END
