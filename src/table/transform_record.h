// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/table_transform.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "describe/kinds.h"
#include "table/values.h"

namespace linnet {

/// A number, standardised: (x - mean) / std; a missing one is `fill`.
struct NumberInput {
  std::string column = {};
  double mean = 0;
  double std = 1;
  double fill = 0;
  bool indicator = false;  ///< a second feature is 1 where the value is missing
};

/// A boolean, 0 or 1; a missing one is `fill`.
struct BooleanInput {
  std::string column = {};
  double fill = 0;
  bool indicator = false;
};

/// One of several texts. Place 0 is that of all that is unknown; the categories follow, then a
/// missing value.
struct CategoryInput {
  std::string column = {};
  std::vector<std::string> categories = {};
  bool missing = false;   ///< a missing value has a place of its own; else that of the unknown
  bool embedded = false;  ///< an id instead of a feature for each place

  std::int64_t places() const {
    return 1 + static_cast<std::int64_t>(categories.size()) + (missing ? 1 : 0);
  }
};

/// A date: days since 1970, standardised, and places on the circles of year, week and day.
struct DateInput {
  std::string column = {};
  DateOrder order = DateOrder::year_first;
  double mean = 0;
  double std = 1;
  double fill = 0;
  bool times = false;  ///< the circle of the day counts
  bool indicator = false;
};

using TableInput = std::variant<NumberInput, BooleanInput, CategoryInput, DateInput>;

/// One class of several, by its text.
struct ClassTarget {
  std::string column = {};
  std::vector<std::string> classes = {};
};

/// A number; `mean` and `std` are those of the training set.
struct ValueTarget {
  std::string column = {};
  double mean = 0;
  double std = 1;
};

using LearnedTarget = std::variant<ClassTarget, ValueTarget>;

/// What a TableTransform knows.
struct TransformRecord {
  bool header = false;                    ///< the columns have names of their own
  std::vector<std::string> missing = {};  ///< texts that stand for missing values
  std::vector<std::string> columns = {};  ///< of the file, in order
  std::vector<TableInput> inputs = {};
  LearnedTarget target = {};
};

/// Returns the column that an input or a target reads.
template <class V>
const std::string& column_of(const V& value) {
  return std::visit([](const auto& of) -> const std::string& { return of.column; }, value);
}

/// How many features an input has; 0 of an id.
std::int64_t width_of(const TableInput& input);
/// Returns the names of the features of an input.
std::vector<std::string> names_of(const TableInput& input);

/// Returns what a model learns of a column of these rows. Throws DataError as TableTransform::fit()
/// does.
LearnedTarget target_of(const Table& rows, std::size_t column, TableTarget kind);

/// Returns the record as JSON, {"version": 1, "columns": [...], "inputs": [{"kind": "number",
/// ...}], ...}.
std::string json_of(const TransformRecord& record);
/// Throws DataError for any other text.
TransformRecord transform_record_from(const std::string& text);

}  // namespace linnet
