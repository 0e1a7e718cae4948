// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "series/series_record.h"

namespace linnet {

/// The rows of one series in the order of time, one for each step.
struct AlignedSeries {
  std::string entity = {};
  std::vector<std::int64_t> rows = {};   ///< of the table; -1: the file lacks this time
  std::vector<std::int64_t> times = {};  ///< of each
};

/// All series of a table, in the order in which the file names them.
struct AlignedRows {
  std::vector<AlignedSeries> series = {};
  std::vector<std::string> notes = {};
};

/// Where a table has the columns that a record knows: by name, or by place where either has no
/// header.
class SeriesColumns {
 public:
  SeriesColumns(const SeriesRecord& record, const Table& table);
  /// Throws DataError for a column that the table lacks.
  std::size_t need(const std::string& column) const;

 private:
  const SeriesRecord& record_;
  const Table& table_;
  bool by_name_;
};

/// A row of a table and its time.
struct TimedRow {
  std::int64_t time = 0;
  std::int64_t row = 0;
};
/// The rows of a series.
struct TimedRows {
  std::string entity = {};
  std::vector<TimedRow> rows = {};
};

/// The rows series by series in the file's order of series, sorted by time; `sorted` becomes false
/// where they were not.
std::vector<TimedRows> rows_by_time(const Table& table, const SeriesColumns& columns,
                                    const SeriesRecord& record, bool* sorted = nullptr);
/// Throws DataError for a time that a series has twice.
void check_times(const Table& table, const SeriesColumns& columns, const SeriesRecord& record,
                 const std::vector<TimedRows>& series);

/// The time of each row: seconds since 1970, whole numbers, or of rows zeros; on steps where the
/// record says so and has a step. Throws DataError naming row and column.
std::vector<std::int64_t> read_times(const Table& table, const SeriesRecord& record,
                                     const SeriesColumns& columns);

/// Returns the months of a time since the year 0.
std::int64_t month_of(std::int64_t time);

/// Sorts rows into series and steps, of a table with one row for each time (one_row_a_time()).
/// Throws DataError naming the row of a time that occurs twice in
/// a series or lies between two steps, and for a file that lacks more times than it has.
AlignedRows align(const Table& table, const SeriesColumns& columns, const SeriesRecord& record);

/// The time of a step of a series, counted from its first one.
std::int64_t time_at(const SeriesRecord& record, std::int64_t first, std::int64_t step);

}  // namespace linnet
