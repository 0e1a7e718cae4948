// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "table/contents.h"

namespace linnet {

/// What the values of a column are. Words that may be missing values stand apart from them.
struct ColumnFacts {
  std::int64_t present = 0;    ///< rows with a value
  std::int64_t distinct = 0;   ///< different values
  bool integers = true;        ///< all are whole numbers
  bool counts_up = true;       ///< all rows have one, each 1 more than that of the row before
  std::int64_t trues = 0;      ///< different texts that mean true; less than there are where others
  std::int64_t falses = 0;     ///< don't
  std::string_view code = {};  ///< the first whole number with leading zeros
  // As numbers.
  Readings readings = kAllReadings;  ///< under which all values are numbers
  bool dots = false;                 ///< a '.' stands in some number
  bool commas = false;
  bool units_differ = false;
  std::string_view unit = {};          ///< that of all values, unless units_differ
  std::string_view grouped = {};       ///< the first value whose separator may part thousands
  bool below_thousand = false;         ///< some whole numbers lack separators, and would
  bool ungrouped_thousands = false;    ///< some lack separators that thousands would have
  std::string_view first_number = {};  ///< that is not digits alone
  std::int64_t number_count = 0;       ///< different values that are numbers
  std::string_view no_number = {};     ///< the first value that is none
  std::size_t no_number_row = 0;
  std::vector<std::pair<std::string_view, std::int64_t>> words = {};  ///< with their rows

  bool numbers() const { return present > 0 && readings != 0 && !units_differ && code.empty(); }
  bool booleans() const { return distinct == 2 && trues == 1 && falses == 1; }
  /// Takes the words for values.
  void add_words();
};

ColumnFacts facts_of(const TableContents& table, std::size_t column);

/// Finds out again whether the values are whole and count up, where numbers are written otherwise
/// than 1234.5.
void recount(ColumnFacts& facts, const TableContents& table, std::size_t column);

/// Decides how each column's numbers are written, and adds notes where both readings are possible.
/// `facts`: of each column.
void decide_formats(TableContents& table, std::vector<ColumnFacts>& facts,
                    const TableOptions& options);

}  // namespace linnet
