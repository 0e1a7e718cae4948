// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "data/delimited.h"
#include "table/dates.h"
#include "table/given_reading.h"
#include "table/values.h"

namespace linnet {

/// The text of a table and what was found in it. Rows are counted without the header.
struct TableContents {
  std::string name;
  Records records;
  bool header = false;
  char separator = ',';
  char decimal = '.';
  GivenReading given = {};
  std::unordered_set<std::string> missing_texts = {};
  std::bitset<256> missing_starts = {};  ///< the first bytes of missing_texts
  std::vector<TableColumn> columns = {};
  std::vector<DateReading> dates = {};  ///< of each column; of dates alone it means something
  std::vector<bool> given_types = {};   ///< of each column: its type was not inferred
  std::vector<std::string> notes = {};

  std::size_t rows() const { return records.size() - (header ? 1 : 0); }
  /// Returns "" where the value is missing.
  std::string_view text(std::size_t row, std::size_t column) const {
    const std::size_t record = row + (header ? 1 : 0);
    const std::string_view text = records.text(records[record][column]);
    return is_missing(text) ? std::string_view() : text;
  }
  bool is_missing(std::string_view text) const;
  std::size_t line(std::size_t row) const { return records.line(row + (header ? 1 : 0)); }
  std::string place(std::size_t row, std::size_t column) const;
};

/// Fills in separator, header, names and decimal separator. Throws DataError as read_table() says.
std::shared_ptr<TableContents> read_records(std::string text, const std::string& name,
                                            const TableOptions& options);

/// Fills in the columns' types and counts.
void infer_types(TableContents& table, const TableOptions& options);

/// Returns whether the only record of a table, which was taken for a row, holds these names.
bool is_header_alone(const TableContents& table, std::span<const std::string_view> names);

/// Returns the place of a column by its name, else by its number from 1. Throws DataError with the
/// nearest name.
std::size_t find_column(const TableContents& table, std::string_view column);

}  // namespace linnet
