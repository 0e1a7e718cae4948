// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "table/contents.h"

namespace linnet {

/// Reads a column of a table as a model does: its further rows may be too few to tell how they are
/// meant. The table and the reading outlive it.
class ColumnReader {
 public:
  /// `name`: of the column in the reading.
  ColumnReader(const Table& table, std::size_t column, const LearnedReading& reading,
               const std::string& name);

  std::int64_t rows() const { return table_.rows(); }
  std::string_view field(std::int64_t row) const { return table_.field(row, column_); }
  /// Returns "" where the value is missing, also by a word: a text that the model knows is to be
  /// found as field() first.
  std::string_view text(std::int64_t row) const {
    const std::string_view text = field(row);
    return is_missing(text) ? std::string_view() : text;
  }
  bool missing(std::int64_t row) const { return is_missing(field(row)); }
  /// Returns the number of a value that is there. Throws DataError naming row and column for a text
  /// that is not a finite number.
  double number(std::int64_t row) const;
  /// For messages.
  std::string place(std::int64_t row) const { return table_.place(row, column_); }
  const Table& table() const { return table_; }

 private:
  bool is_missing(std::string_view text) const {
    return table_.contents()->is_missing(text, true) || missing_.contains(text);
  }

  const Table& table_;
  std::size_t column_;
  TextSet missing_;
  NumberFormat format_;
};

}  // namespace linnet
