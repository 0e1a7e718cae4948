// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/delimited.h"
#include "table/dates.h"
#include "table/given_reading.h"
#include "table/number_format.h"
#include "table/values.h"

namespace linnet {

/// Texts of which most others differ by their first byte or their length.
class TextSet {
 public:
  TextSet() = default;
  explicit TextSet(const std::vector<std::string>& texts);
  bool contains(std::string_view text) const {
    return !text.empty() && starts_[static_cast<unsigned char>(text[0])] &&
           sizes_[std::min(text.size(), sizes_.size() - 1)] && texts_.contains(text);
  }
  std::vector<std::string> sorted() const { return {texts_.begin(), texts_.end()}; }

 private:
  std::set<std::string, std::less<>> texts_;
  std::bitset<256> starts_;
  std::bitset<32> sizes_;  // the last one is that of all longer texts
};

/// How the texts of a column are read.
struct ColumnReading {
  NumberFormat format = {};
  bool certain = true;  ///< no other format gives other numbers
  bool words = false;   ///< TableOptions::missing_words are missing values
};

/// The text of a table and what was found in it. Rows are counted without the header.
struct TableContents {
  std::string name;
  Records records;
  bool header = false;
  char separator = ',';
  char decimal = '.';  ///< of most columns
  GivenReading given = {};
  TextSet missing_texts = {};  ///< of all columns
  TextSet missing_words = {};  ///< of those of numbers, dates and truth values
  std::vector<TableColumn> columns = {};
  std::vector<ColumnReading> readings = {};  ///< of each column
  std::vector<DateReading> dates = {};       ///< of each column; of dates alone it means something
  std::vector<bool> given_types = {};        ///< of each column: its type was not inferred
  /// A sentence on the sheet or the encoding that was found, the first of `notes`; empty: none.
  std::string source_note = {};
  std::vector<std::string> notes = {};
  /// A sentence on a last row that seems to hold totals; empty: there is none.
  std::string totals = {};

  std::size_t rows() const { return records.size() - (header ? 1 : 0); }
  /// Returns the field as the file has it.
  std::string_view field(std::size_t row, std::size_t column) const {
    return records.text(records[row + (header ? 1 : 0)][column]);
  }
  /// Returns "" where the value is missing.
  std::string_view text(std::size_t row, std::size_t column) const {
    const std::string_view text = field(row, column);
    return is_missing(text, readings[column].words) ? std::string_view() : text;
  }
  /// `words`: whether missing_words count.
  bool is_missing(std::string_view text, bool words) const {
    return text.empty() || missing_texts.contains(text) || (words && missing_words.contains(text));
  }
  std::size_t line(std::size_t row) const { return records.line(row + (header ? 1 : 0)); }
  std::string place(std::size_t row, std::size_t column) const;
};

inline constexpr std::size_t kMostColumns = std::size_t{1} << 16;

/// Fills in separator, header and names. Throws DataError as read_table() says.
std::shared_ptr<TableContents> read_records(std::string text, const std::string& name,
                                            const TableOptions& options,
                                            std::size_t most_columns = kMostColumns);

/// As the public one, and throws DataError for more columns.
Table parse_table(std::string text, const std::string& name, const TableOptions& options,
                  std::size_t most_columns);

/// Fills in the columns' readings, types and counts, and the decimal separator.
void infer_types(TableContents& table, const TableOptions& options);

/// Returns whether the only record of a table, which was taken for a row, holds these names.
bool is_header_alone(const TableContents& table, std::span<const std::string_view> names);

/// Returns the place of a column by its name, else by its number from 1. Throws DataError with the
/// nearest name.
std::size_t find_column(const TableContents& table, std::string_view column);

}  // namespace linnet
