// SPDX-License-Identifier: Apache-2.0
#include "table/column_reader.h"

#include <cmath>
#include <optional>

#include "base/check.h"

namespace linnet {

ColumnReader::ColumnReader(const Table& table, std::size_t column, const LearnedReading& reading,
                           const std::string& name)
    : table_(table), column_(column) {
  std::vector<std::string> all = reading.missing;
  all.insert(all.end(), reading.words.begin(), reading.words.end());
  missing_ = TextSet(all);
  const ColumnReading& own = table.contents()->readings[column];
  const auto learned = reading.formats.find(name);
  const bool known = learned != reading.formats.end();
  format_ = known && !own.certain ? learned->second : own.format;
  format_.unit = known ? learned->second.unit : "";  // 12 % is not what a model knows as 0.12
}

double ColumnReader::number(std::int64_t row) const {
  const std::string_view text = table_.field(row, column_);
  const std::optional<double> number = number_of(text, format_);
  if (!number || !std::isfinite(*number)) {  // require() would write the place for each number
    fail<DataError>("{}: expected a finite number; got '{}'", place(row), in_message(text));
  }
  return *number;
}

}  // namespace linnet
