// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <string>
#include <vector>

#include "series/align.h"

namespace linnet {

/// Fills in the record's step and its calendar: `given`, e.g. "15min", else the most common
/// difference between neighbours; of times that move to the nearest step the median one, rounded.
/// Returns sentences on what was found. Throws Error for a step that is none.
std::vector<std::string> find_step(const Table& table, const SeriesColumns& columns,
                                   const std::string& given, SeriesRecord& record);

/// Returns the table with one row for each time of a series, as SeriesRecord::same_time says; the
/// same table where there is nothing to do.
Table one_row_a_time(const Table& table, const SeriesColumns& columns, const SeriesRecord& record);

}  // namespace linnet
