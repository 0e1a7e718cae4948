// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "table/contents.h"

namespace linnet {

/// What the dates among a column's values are.
struct ColumnDates {
  DateReading reading = {};
  std::int64_t count = 0;               ///< values that are dates
  std::size_t other_row = 0;            ///< the first row of a value that is none
  std::vector<std::string> notes = {};  ///< on what was decided
};

/// Finds how a column's dates are read. Nothing where fewer than half of its first values are
/// dates. `order`: what was said, else it is found: the one that reads most values; of several the
/// one whose dates follow each other at equal steps; else month/day/year beside AM and PM, and
/// day/month/year. Years of two digits are taken so that a column has the fewest years.
std::optional<ColumnDates> find_dates(const TableContents& table, std::size_t column,
                                      std::optional<DateOrder> order);

}  // namespace linnet
