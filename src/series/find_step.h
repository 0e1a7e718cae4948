// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "series/align.h"

namespace linnet {

/// Fills in the record's step and its calendar: `given`, e.g. "15min", else the most common
/// difference between neighbours; of times that move to the nearest step the median one, rounded.
/// Returns sentences on what was found. Throws Error for a step that is none.
std::vector<std::string> find_step(const Table& table, const SeriesColumns& columns,
                                   const std::string& given, SeriesRecord& record);

/// Returns the column of the times of day that belong to a column of dates: the next one, else the
/// only one. Nothing where no date occurs twice in a series, or dates have times already.
std::optional<std::size_t> find_times_of_day(const Table& table, std::size_t dates,
                                             std::optional<std::size_t> entity);

/// Returns the table with the times of SeriesRecord::time_of_day after the dates of
/// SeriesRecord::time; the same table where there are none.
Table join_times(const Table& table, const SeriesColumns& columns, const SeriesRecord& record);

/// Returns the table of rows of texts that were made of those of `table`; `order`: of its dates.
Table remade(const Table& table, const SeriesRecord& record,
             const std::vector<std::vector<std::string>>& rows, DateOrder order);

/// Returns the table with one row for each time of a series, as SeriesRecord::same_time says; the
/// same table where there is nothing to do.
Table one_row_a_time(const Table& table, const SeriesColumns& columns, const SeriesRecord& record);

}  // namespace linnet
