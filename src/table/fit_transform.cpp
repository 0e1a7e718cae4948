// SPDX-License-Identifier: Apache-2.0
// What a transform learns from the rows of a training set.
#include <linnet/table_transform.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/check.h"
#include "table/contents.h"
#include "table/transform_record.h"

namespace linnet {
namespace {

constexpr std::int64_t kMostIntegerClasses = 20;
constexpr std::size_t kMostClasses = 4096;

/// The values of a column that are there.
struct Values {
  std::vector<double> values;
  bool missing = false;

  double mean() const {
    double mean = 0;  // running, which no sum of large numbers overflows
    for (std::size_t i = 0; i < values.size(); ++i) {
      mean += (values[i] - mean) / static_cast<double>(i + 1);
    }
    return mean;
  }
  /// 1 where all are the same.
  double std(double mean, const std::string& what) const {
    double sum = 0;
    for (const double value : values) sum += (value - mean) * (value - mean);
    require<DataError>(std::isfinite(sum), "{}: its numbers are too far apart to be standardised",
                       what);
    const double std = std::sqrt(sum / static_cast<double>(values.size()));
    return std > 0 ? std : 1;
  }
  double fill(MissingValues how, double mean) {
    if (how != MissingValues::median) return mean;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
  }
};

template <class Read>
Values values_of(const Table& rows, std::size_t column, const Read& read) {
  Values all;
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    if (rows.missing(row, column)) {
      all.missing = true;
    } else {
      all.values.push_back(read(row));
    }
  }
  return all;
}

/// How often each text occurs.
std::map<std::string_view, std::int64_t> counts_of(const Table& rows, std::size_t column,
                                                   bool* missing = nullptr) {
  std::map<std::string_view, std::int64_t> counts;
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    const std::string_view text = rows.text(row, column);
    if (!text.empty()) ++counts[text];
    if (text.empty() && missing != nullptr) *missing = true;
  }
  return counts;
}

class Fitting {
 public:
  Fitting(const Table& rows, const TableTransformOptions& options)
      : rows_(rows), options_(options) {}

  /// Nothing where the column tells nothing in these rows.
  std::optional<TableInput> input(std::size_t column) const {
    switch (rows_.columns()[column].type) {
      case ColumnType::number:
      case ColumnType::integer: return number(column);
      case ColumnType::boolean: return boolean(column);
      case ColumnType::category: return category(column);
      case ColumnType::date_time: return date(column);
      case ColumnType::constant:
      case ColumnType::identifier: break;
    }
    return std::nullopt;
  }

 private:
  const std::string& name(std::size_t column) const { return rows_.columns()[column].name; }
  std::string what(std::size_t column) const {
    return fmt::format("'{}', column '{}'", rows_.name(), name(column));
  }

  std::optional<TableInput> number(std::size_t column) const {
    Values all =
        values_of(rows_, column, [&](std::int64_t row) { return rows_.number(row, column); });
    if (all.values.empty()) return std::nullopt;
    NumberInput input{.column = name(column), .mean = all.mean()};
    input.std = all.std(input.mean, what(column));
    input.fill = all.fill(options_.missing, input.mean);
    input.indicator = all.missing && options_.missing != MissingValues::drop;
    return input;
  }

  std::optional<TableInput> boolean(std::size_t column) const {
    const Values all = values_of(rows_, column, [&](std::int64_t row) {
      return boolean_of(rows_.text(row, column)).value_or(false) ? 1.0 : 0.0;
    });
    if (all.values.empty()) return std::nullopt;
    return BooleanInput{.column = name(column),
                        .fill = all.mean(),
                        .indicator = all.missing && options_.missing != MissingValues::drop};
  }

  std::optional<TableInput> category(std::size_t column) const {
    CategoryInput input{.column = name(column)};
    for (const auto& [text, count] : counts_of(rows_, column, &input.missing)) {
      if (count >= options_.least_count) input.categories.emplace_back(text);
    }
    if (input.categories.empty()) return std::nullopt;
    input.embedded = std::ssize(input.categories) > options_.most_one_hot;
    return input;
  }

  std::optional<TableInput> date(std::size_t column) const {
    const DateOrder order = rows_.contents()->date_orders[column];
    DateInput input{.column = name(column), .order = order};
    Values all = values_of(rows_, column, [&](std::int64_t row) {
      const std::optional<DateTime> date = date_of(rows_.text(row, column), order);
      require<DataError>(date.has_value(), "{}: expected a date; got '{}'",
                         rows_.place(row, column), rows_.text(row, column));
      input.times = input.times || date->has_time;
      return static_cast<double>(date->day) + date->seconds / 86400;
    });
    if (all.values.empty()) return std::nullopt;
    input.mean = all.mean();
    input.std = all.std(input.mean, what(column));
    input.fill = all.fill(options_.missing, input.mean);
    input.indicator = all.missing && options_.missing != MissingValues::drop;
    return input;
  }

  const Table& rows_;
  const TableTransformOptions& options_;
};

/// Whether whole numbers are the numbers of classes.
bool are_labels(const std::map<std::string_view, std::int64_t>& counts) {
  if (counts.size() == 2) return true;
  std::set<double> values;
  for (const auto& [text, count] : counts) {
    const std::optional<double> value = number_of(text, '.');
    if (!value) return false;
    values.insert(*value);
  }
  const double first = *values.begin();
  return (first == 0 || first == 1) && std::ssize(values) <= kMostIntegerClasses &&
         *values.rbegin() == first + static_cast<double>(values.size() - 1);
}

LearnedTarget classes_of(const Table& rows, std::size_t column) {
  ClassTarget target{.column = rows.columns()[column].name};
  for (const auto& [text, count] : counts_of(rows, column)) target.classes.emplace_back(text);
  require<DataError>(target.classes.size() <= kMostClasses,
                     "the target '{}' of '{}' has {} different values; expected at most {} classes",
                     target.column, rows.name(), target.classes.size(), kMostClasses);
  const bool numbers = std::ranges::all_of(target.classes, [](const std::string& text) {
    return number_of(text, '.').has_value();
  });
  if (numbers) {
    std::ranges::stable_sort(target.classes, {},
                             [](const std::string& text) { return *number_of(text, '.'); });
  }
  return target;
}

LearnedTarget value_of(const Table& rows, std::size_t column) {
  ValueTarget target{.column = rows.columns()[column].name};
  const Values all =
      values_of(rows, column, [&](std::int64_t row) { return rows.number(row, column); });
  target.mean = all.mean();
  target.std = all.std(target.mean, fmt::format("the target '{}'", target.column));
  return target;
}

}  // namespace

LearnedTarget target_of(const Table& rows, std::size_t column, TableTarget kind) {
  const TableColumn& of = rows.columns()[column];
  const std::map<std::string_view, std::int64_t> counts = counts_of(rows, column);
  require<DataError>(!counts.empty(), "the target '{}' of '{}' has no values", of.name,
                     rows.name());
  require<DataError>(counts.size() > 1,
                     "the target '{}' of '{}' is constant, '{}' in all rows: there is nothing to "
                     "learn",
                     of.name, rows.name(), counts.begin()->first);
  require<DataError>(
      of.type != ColumnType::identifier,
      "the target '{}' of '{}' is an identifier, another value in each row: there is "
      "nothing to learn; give it a type if that is wrong",
      of.name, rows.name());
  const bool number = of.type == ColumnType::number || of.type == ColumnType::integer;
  if (kind == TableTarget::automatic) {
    require<DataError>(of.type != ColumnType::date_time,
                       "the target '{}' of '{}' is a date; expected a category or a number",
                       of.name, rows.name());
    const bool labels = of.type == ColumnType::integer && are_labels(counts);
    kind = number && !labels ? TableTarget::value : TableTarget::classes;
  }
  return kind == TableTarget::value ? value_of(rows, column) : classes_of(rows, column);
}

TableTransform TableTransform::fit(const Table& rows, const std::string& target,
                                   const TableTransformOptions& options) {
  require(rows.rows() > 0, "the table '{}' has no rows to learn from", rows.name());
  require(options.most_one_hot >= 0, "most_one_hot is at least 0; got {}", options.most_one_hot);
  require(options.least_count >= 1, "least_count is at least 1; got {}", options.least_count);
  const std::size_t column = rows.find(target);
  auto record = std::make_shared<TransformRecord>();
  record->header = rows.has_header();
  record->missing = {rows.contents()->missing_texts.begin(), rows.contents()->missing_texts.end()};
  std::ranges::sort(record->missing);
  record->target = target_of(rows, column, options.target);
  std::set<std::size_t> ignored{column};
  for (const std::string& name : options.ignore) {
    const std::size_t left_out = rows.find(name);
    require(left_out != column, "the target '{}' cannot be left out", target);
    ignored.insert(left_out);
  }
  const Fitting fitting(rows, options);
  for (std::size_t i = 0; i < rows.columns().size(); ++i) {
    record->columns.push_back(rows.columns()[i].name);
    if (ignored.contains(i)) continue;
    if (std::optional<TableInput> input = fitting.input(i))
      record->inputs.push_back(*std::move(input));
  }
  require<DataError>(!record->inputs.empty(),
                     "'{}' has no column to learn from: all but the target are constants, "
                     "identifiers or left out",
                     rows.name());
  return TableTransform(std::move(record));
}

}  // namespace linnet
