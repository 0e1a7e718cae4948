// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/series_transform.h>
#include <linnet/tables.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "series/series_record.h"

namespace linnet {

/// The rows of all series, one after the other, of which windows are views.
struct WindowContents {
  struct Part {
    std::string entity = {};
    std::int32_t id = 0;  ///< place of an Embedding
    std::int64_t first = 0;
    std::int64_t rows = 0;  ///< with those after the file's end
  };
  std::shared_ptr<const SeriesRecord> record;
  std::string name = {};  ///< of the table
  std::int64_t channels = 0;
  std::int64_t known_channels = 0;
  std::vector<float> past = {};          ///< (rows, channels)
  std::vector<float> known = {};         ///< (rows, known channels)
  std::vector<float> targets = {};       ///< (rows, targets) less offset(); NaN: missing
  std::vector<float> filled = {};        ///< the same with the last values instead of NaN
  std::vector<std::int64_t> times = {};  ///< of rows
  std::vector<Part> parts = {};
  std::vector<std::string> notes = {};

  std::size_t target_count() const { return record->targets.size(); }
  /// Throws InternalError for a target that is not there.
  double offset(std::size_t target) const { return record->targets.at(target).offset; }
  const Part& part_of(std::int64_t row) const;
  std::int64_t time_of(std::int64_t row) const;
  bool has_targets(std::int64_t row) const;  ///< all of them
};

/// Reads a table by a record. `for_forecast`: each series ends `future` steps after its last row
/// with a target; DataError where its past is too short or a value that is known ahead is missing.
std::shared_ptr<const WindowContents> read_series(const Table& table,
                                                  std::shared_ptr<const SeriesRecord> record,
                                                  bool for_forecast = false);

/// The first rows of all windows whose forecast parts have all targets, series by series.
std::vector<std::int64_t> complete_windows(const WindowContents& contents);

/// Returns sentences on the steps that a forecast sees (read_series() for one): numbers outside the
/// training's range, but of targets with a trend, and times far from the training's.
std::vector<std::string> unlike_training(const WindowContents& contents);

/// The names of the channels; `known`: of those that are known ahead alone.
std::vector<std::string> channel_names(const SeriesRecord& record, bool known);

}  // namespace linnet
