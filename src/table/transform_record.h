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
#include "table/dates.h"
#include "table/given_reading.h"
#include "table/values.h"

namespace linnet {

/// A number, scaled: (x - center) / scale, of its logarithm with log1p; a missing one is `fill`.
struct NumberInput {
  std::string column = {};
  Scaling scaling = Scaling::standard;
  double center = 0;
  double scale = 1;
  std::vector<double> quantiles = {};  ///< in order, of Scaling::quantile alone
  /// Least and largest value of the training rows; empty where an older file does not say.
  std::vector<double> range = {};
  bool integer = false;  ///< of the type integer: values are whole
  double fill = 0;
  bool interpolate = false;  ///< a missing one lies between its neighbours where these are there
  bool indicator = false;    ///< a second feature is 1 where the value is missing
};

/// A boolean, 0 or 1; a missing one is `fill`, and so is any text that is none of its words.
struct BooleanInput {
  std::string column = {};
  /// Its texts in the training rows, in lower case, beside 0, 1, true and false; empty: an older
  /// file, which takes all words of booleans.
  std::vector<std::string> words = {};
  double fill = 0;
  bool indicator = false;
};

/// One of several texts. Place 0 is that of all that is unknown; the categories follow, then a
/// missing value.
struct CategoryInput {
  std::string column = {};
  std::vector<std::string> categories = {};
  bool missing = false;   ///< a missing value has a place of its own; else that of `fill`
  std::string fill = {};  ///< the category that stands in for a missing one; empty: the unknown
  bool embedded = false;  ///< an id instead of a feature for each place

  std::int64_t places() const {
    return 1 + static_cast<std::int64_t>(categories.size()) + (missing ? 1 : 0);
  }
};

/// A date: days since 1970, standardised, and places on the circles of year, week and day.
struct DateInput {
  std::string column = {};
  DateOrder order = DateOrder::year_first;
  std::int64_t first_year = DateReading().first_year;  ///< of years of two digits
  double mean = 0;
  double std = 1;
  double fill = 0;
  bool times = false;  ///< the circle of the day counts
  bool indicator = false;
  /// First and last of the training rows, in days since 1970; empty where an older file does not
  /// say.
  std::vector<double> range = {};

  DateReading reading() const { return {order, static_cast<int>(first_year)}; }
};

using TableInput = std::variant<NumberInput, BooleanInput, CategoryInput, DateInput>;

/// One class of several, by its text.
struct ClassTarget {
  std::string column = {};
  std::vector<std::string> classes = {};
};

/// A number; `mean` and `std` are those of the training set. Networks learn it less `offset`, which
/// is not 0 where 32 bits would not tell its values apart.
struct ValueTarget {
  std::string column = {};
  double offset = 0;
  double mean = 0;
  double std = 1;
};

/// A number of each of several columns.
struct ValuesTarget {
  std::vector<std::string> columns = {};
  std::vector<double> offsets = {};  ///< empty: all are 0
  std::vector<double> means = {};
  std::vector<double> stds = {};
};

/// 0 or 1 of each of several columns.
struct LabelsTarget {
  std::vector<std::string> columns = {};
};

/// How unlike the training rows a row is: no column says it.
struct NoveltyTarget {};

using LearnedTarget =
    std::variant<ClassTarget, ValueTarget, ValuesTarget, LabelsTarget, NoveltyTarget>;

/// What a TableTransform knows.
struct TransformRecord {
  LearnedReading reading = {};
  std::vector<std::string> columns = {};  ///< of the file, in order
  std::vector<TableInput> inputs = {};
  LearnedTarget target = {};
};

/// Returns the column that an input reads.
inline const std::string& column_of(const TableInput& input) {
  return std::visit([](const auto& of) -> const std::string& { return of.column; }, input);
}
/// Returns the columns of a target; of a novelty there are none.
std::vector<std::string> columns_of(const LearnedTarget& target);

/// How many features an input has; 0 of an id.
std::int64_t width_of(const TableInput& input);
/// Returns the names of the features of an input.
std::vector<std::string> names_of(const TableInput& input);

/// Returns what a model learns of these columns. Throws DataError as TableTransform::fit() does.
LearnedTarget target_of(const Table& rows, const std::vector<std::size_t>& columns,
                        TableTarget kind);
/// Returns the kind, never `automatic`.
TableTarget kind_of(const LearnedTarget& target);
/// Returns the places of the columns. Throws Error for none, and for one that is named twice.
std::vector<std::size_t> find_targets(const Table& table, const TableTargets& targets);

/// Returns the record as JSON, {"version": 5, "columns": [...], "inputs": [{"kind": "number",
/// ...}], ...}.
std::string json_of(const TransformRecord& record);
/// Throws DataError for any other text.
TransformRecord transform_record_from(const std::string& text);

}  // namespace linnet
