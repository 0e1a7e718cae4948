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
  std::int64_t first_time = 0;
  std::vector<std::int64_t> rows = {};  ///< of the table; -1: the file lacks this time
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

/// The time of each row: seconds since 1970, whole numbers, or of rows zeros. Throws DataError
/// naming row and column.
std::vector<std::int64_t> read_times(const Table& table, const SeriesRecord& record,
                                     const SeriesColumns& columns);

/// Fills in the record's step, from the most common difference between neighbours.
void find_step(const Table& table, const SeriesColumns& columns, SeriesRecord& record);

/// Sorts rows into series and steps. Throws DataError naming the row of a time that occurs twice in
/// a series or lies between two steps, and for a file that lacks more times than it has.
AlignedRows align(const Table& table, const SeriesColumns& columns, const SeriesRecord& record);

/// The time of a step of a series, counted from its first one.
std::int64_t time_at(const SeriesRecord& record, std::int64_t first, std::int64_t step);

}  // namespace linnet
