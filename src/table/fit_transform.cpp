// SPDX-License-Identifier: Apache-2.0
// What a transform learns from the rows of a training set.
#include <linnet/table_transform.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/ascii.h"
#include "base/check.h"
#include "base/percentile.h"
#include "table/contents.h"
#include "table/scaling.h"
#include "table/transform_record.h"

namespace linnet {
namespace {

constexpr std::int64_t kMostIntegerClasses = 20;
constexpr std::size_t kMostClasses = 4096;
constexpr std::size_t kMostValues = 16;  // channels of the layer that scales them back

/// The values of a column that are there, in order.
struct Values {
  std::vector<double> values;
  bool missing = false;

  double fill(MissingValues how) const {
    if (how == MissingValues::median) return percentile(values, 0.5);
    if (how == MissingValues::most_frequent) return most_frequent(values);
    return mean_of(values);
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
  std::ranges::sort(all.values);
  return all;
}

/// How often each text occurs; 1 and 1.0 are one, by its first text.
std::map<std::string_view, std::int64_t> counts_of(const Table& rows, std::size_t column,
                                                   std::int64_t* missing = nullptr) {
  std::map<std::string_view, std::pair<std::string_view, std::int64_t>> counts;
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    const std::string_view text = rows.text(row, column);
    if (!text.empty()) ++counts.try_emplace(whole_text(text), text, 0).first->second.second;
    if (text.empty() && missing != nullptr) ++*missing;
  }
  std::map<std::string_view, std::int64_t> by_text;
  for (const auto& [whole, of] : counts) by_text.insert(of);
  return by_text;
}

bool is_number(ColumnType type) {
  return type == ColumnType::number || type == ColumnType::integer;
}

class Fitting {
 public:
  Fitting(const Table& rows, const TableTransformOptions& options)
      : rows_(rows), options_(options) {
    for (const auto& [given, scaling] : options.column_scaling) {
      const std::size_t column = rows.find(given);
      require(is_number(rows.columns()[column].type),
              "the column '{}' of '{}' is of the type {}; scalings are for numbers", name(column),
              rows.name(),
              column_type_names()[static_cast<std::size_t>(rows.columns()[column].type)]);
      scalings_[column] = scaling;
    }
  }

  /// Nothing where the column tells nothing in these rows.
  std::optional<TableInput> input(std::size_t column) const {
    switch (rows_.columns()[column].type) {
      case ColumnType::number:
      case ColumnType::integer: return number(column);
      case ColumnType::boolean: return boolean(column);
      case ColumnType::category: return category(column);
      case ColumnType::date_time: return date(column);
      case ColumnType::identifier: return presence(column);
      case ColumnType::constant: break;
    }
    return std::nullopt;
  }

 private:
  const std::string& name(std::size_t column) const { return rows_.columns()[column].name; }
  std::string what(std::size_t column) const {
    return fmt::format("'{}', column '{}'", rows_.name(), name(column));
  }

  std::optional<TableInput> number(std::size_t column) const {
    const Values all =
        values_of(rows_, column, [&](std::int64_t row) { return rows_.number(row, column); });
    if (all.values.empty()) return std::nullopt;
    NumberInput input{.column = name(column)};
    const auto own = scalings_.find(column);
    fit_scaling(input, own == scalings_.end() ? options_.scaling : own->second, all.values,
                what(column));
    input.range = {all.values.front(), all.values.back()};
    input.integer = rows_.columns()[column].type == ColumnType::integer;
    input.fill = all.fill(options_.missing);
    input.interpolate = options_.missing == MissingValues::interpolate;
    input.indicator = indicates(all);
    return input;
  }

  std::optional<TableInput> boolean(std::size_t column) const {
    std::set<std::string> words;
    const Values all = values_of(rows_, column, [&](std::int64_t row) {
      const std::string_view text = rows_.text(row, column);
      words.insert(lower_ascii(whole_text(text)));
      return boolean_of(text).value_or(false) ? 1.0 : 0.0;
    });
    if (all.values.empty()) return std::nullopt;
    return BooleanInput{.column = name(column),
                        .words = {words.begin(), words.end()},
                        .fill = all.fill(options_.missing),
                        .indicator = indicates(all)};
  }

  std::optional<TableInput> category(std::size_t column) const {
    CategoryInput input{.column = name(column)};
    std::int64_t most = 0;
    std::int64_t missing = 0;
    for (const auto& [text, count] : counts_of(rows_, column, &missing)) {
      if (count < options_.least_count) continue;
      input.categories.emplace_back(text);
      if (options_.missing != MissingValues::most_frequent || count <= most) continue;
      most = count;
      input.fill = text;
    }
    if (input.categories.empty()) return presence(column);
    input.missing = missing > 0 && input.fill.empty();
    input.embedded = std::ssize(input.categories) > options_.most_one_hot;
    return input;
  }

  /// Whether there is a value, where that differs in more than a few rows.
  std::optional<TableInput> presence(std::size_t column) const {
    constexpr std::int64_t kLeast = 3;
    std::int64_t missing = 0;
    counts_of(rows_, column, &missing);
    const bool tells = std::min(missing, rows_.rows() - missing) >= kLeast;
    if (!tells || options_.missing == MissingValues::drop) return std::nullopt;
    return CategoryInput{.column = name(column), .missing = true};
  }

  std::optional<TableInput> date(std::size_t column) const {
    const DateReading reading = rows_.contents()->dates[column];
    DateInput input{.column = name(column),
                    .order = reading.order,
                    .first_year = reading.first_year};
    const Values all = values_of(rows_, column, [&](std::int64_t row) {
      const std::optional<DateTime> date = date_of(rows_.text(row, column), reading);
      if (!date) {
        fail<DataError>("{}: expected a date; got '{}'", rows_.place(row, column),
                        in_message(rows_.text(row, column)));
      }
      input.times = input.times || date->has_time;
      return static_cast<double>(date->day) + date->seconds / 86400;
    });
    if (all.values.empty()) return std::nullopt;
    input.mean = mean_of(all.values);
    input.std = std_of(all.values, input.mean, what(column));
    input.fill = all.fill(options_.missing);
    input.indicator = indicates(all);
    input.range = {all.values.front(), all.values.back()};
    return input;
  }

  bool indicates(const Values& values) const {
    return values.missing && options_.missing != MissingValues::drop;
  }

  const Table& rows_;
  const TableTransformOptions& options_;
  std::map<std::size_t, Scaling> scalings_ = {};  ///< of single columns
};

/// Whether whole numbers are the numbers of classes.
bool are_labels(const std::map<std::string_view, std::int64_t>& counts,
                const NumberFormat& format) {
  std::set<double> values;
  for (const auto& [text, count] : counts) {
    const std::optional<double> value = number_of(text, format);
    if (!value) return false;
    values.insert(*value);
  }
  if (values.size() == 2) return true;
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
  target.mean = mean_of(all.values);
  target.std = std_of(all.values, target.mean, fmt::format("the target '{}'", target.column));
  // Beyond it, 32 bits hold less than 4 digits of what the values differ by.
  constexpr double kLargestOffset = 1000;
  if (std::abs(target.mean) > kLargestOffset * target.std) target.offset = target.mean;
  constexpr double kLargest = 1e18;
  require<DataError>(
      target.std < kLargest && target.std > 1 / kLargest && std::abs(target.mean) < kLargest,
      "the target '{}' of '{}' has the mean {:.3g} and the std {:.3g}, whose squares 32-bit "
      "numbers "
      "do not hold; expected a std from {:g} to {:g}: change its unit, or look for wrong values",
      target.column, rows.name(), target.mean, target.std, 1 / kLargest, kLargest);
  return target;
}

/// Whether a column is left out for its whole numbers, each 1 more than the one before.
bool counts_rows(const Table& rows, std::size_t column) {
  if (rows.columns()[column].type != ColumnType::identifier) return false;
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    if (!is_integer(whole_text(rows.text(row, column)))) return false;
  }
  return true;
}

/// Returns why columns may not be the numbers that they were meant to be; "" where nothing is
/// known.
std::string why_texts(const Table& rows) {
  std::string why;
  for (const std::string& note : rows.notes()) {
    if (note.find("read as texts") != std::string::npos) why += "; " + note;
  }
  for (std::size_t i = 0; i < rows.columns().size(); ++i) {
    if (!counts_rows(rows, i)) continue;
    why += fmt::format("; '{0}' counts the rows: --type '{0}=integer' reads it as numbers",
                       rows.columns()[i].name);
    break;
  }
  return why;
}

/// What can be said of a target without the others.
void check_target(const Table& rows, std::size_t column) {
  const TableColumn& of = rows.columns()[column];
  std::string_view first;
  bool constant = true;
  for (std::int64_t row = 0; row < rows.rows() && constant; ++row) {
    const std::string_view text = rows.text(row, column);
    if (first.empty()) first = text;
    constant = text.empty() || whole_text(text) == whole_text(first);
  }
  require<DataError>(!first.empty(), "the target '{}' of '{}' has no values", of.name, rows.name());
  require<DataError>(!constant,
                     "the target '{}' of '{}' is constant, '{}' in all rows: there is nothing to "
                     "learn",
                     of.name, rows.name(), first);
  require<DataError>(
      of.type != ColumnType::identifier,
      "the target '{}' of '{}' is an identifier, another value in each row: there is "
      "nothing to learn; give it a type if that is wrong{}",
      of.name, rows.name(), why_texts(rows));
}

LearnedTarget one_target_of(const Table& rows, std::size_t column, TableTarget kind) {
  const TableColumn& of = rows.columns()[column];
  require(kind != TableTarget::labels, "labels are several target columns; got '{}' alone",
          of.name);
  if (kind == TableTarget::automatic) {
    require<DataError>(of.type != ColumnType::date_time,
                       "the target '{}' of '{}' is a date; expected a category or a number",
                       of.name, rows.name());
    const bool labels =
        of.type == ColumnType::integer &&
        are_labels(counts_of(rows, column), rows.contents()->readings[column].format);
    kind = is_number(of.type) && !labels ? TableTarget::value : TableTarget::classes;
  }
  return kind == TableTarget::value ? value_of(rows, column) : classes_of(rows, column);
}

/// Several targets are all numbers or all booleans.
LearnedTarget several_targets_of(const Table& rows, const std::vector<std::size_t>& columns,
                                 TableTarget kind) {
  const auto type = [&](std::size_t column) { return rows.columns()[column].type; };
  if (kind == TableTarget::automatic) {
    require<DataError>(is_number(type(columns[0])) || type(columns[0]) == ColumnType::boolean,
                       "several targets are all numbers or all booleans; the target '{}' of '{}' "
                       "is of the type {}",
                       rows.columns()[columns[0]].name, rows.name(),
                       column_type_names()[static_cast<std::size_t>(type(columns[0]))]);
    for (const std::size_t column : columns) {
      const bool same = is_number(type(columns[0])) ? is_number(type(column))
                                                    : type(column) == ColumnType::boolean;
      require<DataError>(same,
                         "several targets are all numbers or all booleans; the target '{}' of "
                         "'{}' is of the type {}, '{}' of the type {}",
                         rows.columns()[columns[0]].name, rows.name(),
                         column_type_names()[static_cast<std::size_t>(type(columns[0]))],
                         rows.columns()[column].name,
                         column_type_names()[static_cast<std::size_t>(type(column))]);
    }
    kind = is_number(type(columns[0])) ? TableTarget::value : TableTarget::labels;
  }
  require(kind != TableTarget::classes,
          "one class of several is learned of one target column; got {} columns", columns.size());
  if (kind == TableTarget::labels) {
    LabelsTarget labels;
    for (const std::size_t column : columns) labels.columns.push_back(rows.columns()[column].name);
    return labels;
  }
  require<DataError>(columns.size() <= kMostValues,
                     "expected at most {} target columns of numbers; got {}", kMostValues,
                     columns.size());
  ValuesTarget values;
  for (const std::size_t column : columns) {
    const auto one = std::get<ValueTarget>(value_of(rows, column));
    values.columns.push_back(one.column);
    values.offsets.push_back(one.offset);
    values.means.push_back(one.mean);
    values.stds.push_back(one.std);
  }
  return values;
}

}  // namespace

LearnedTarget target_of(const Table& rows, const std::vector<std::size_t>& columns,
                        TableTarget kind) {
  for (const std::size_t column : columns) check_target(rows, column);
  return columns.size() == 1 ? one_target_of(rows, columns[0], kind)
                             : several_targets_of(rows, columns, kind);
}

std::vector<std::size_t> find_targets(const Table& table, const TableTargets& targets) {
  require(!targets.names.empty() && !targets.names[0].empty(), "name the target column of '{}'",
          table.name());
  std::vector<std::size_t> columns;
  for (const std::string& name : targets.names) {
    columns.push_back(table.find(name));
    require(std::ranges::count(columns, columns.back()) == 1, "the target '{}' is named twice",
            name);
  }
  return columns;
}

TableTransform TableTransform::fit(const Table& rows, const TableTargets& target,
                                   const TableTransformOptions& options) {
  require(rows.rows() > 0, "the table '{}' has no rows to learn from", rows.name());
  require(options.most_one_hot >= 0, "most_one_hot is at least 0; got {}", options.most_one_hot);
  require(options.least_count >= 1, "least_count is at least 1; got {}", options.least_count);
  const bool novelty = options.target == TableTarget::novelty;
  require(!novelty || target.names.empty(),
          "a novelty is learned of all columns, without a target; got '{}'",
          target.names.empty() ? "" : target.names.front());
  std::vector<std::size_t> targets;
  if (!novelty) targets = find_targets(rows, target);
  auto record = std::make_shared<TransformRecord>();
  record->reading = LearnedReading::of(*rows.contents());
  record->target =
      novelty ? LearnedTarget(NoveltyTarget()) : target_of(rows, targets, options.target);
  std::set<std::size_t> ignored(targets.begin(), targets.end());
  for (const std::string& name : options.ignore) {
    const std::size_t left_out = rows.find(name);
    require(std::ranges::count(targets, left_out) == 0, "the target '{}' cannot be left out", name);
    ignored.insert(left_out);
  }
  for (const auto& [name, scaling] : options.column_scaling) {
    require(std::ranges::count(targets, rows.find(name)) == 0,
            "the target '{}' is always standardised; scalings are for inputs", name);
  }
  const Fitting fitting(rows, options);
  for (std::size_t i = 0; i < rows.columns().size(); ++i) {
    record->columns.push_back(rows.columns()[i].name);
    if (ignored.contains(i)) continue;
    if (std::optional<TableInput> input = fitting.input(i))
      record->inputs.push_back(*std::move(input));
  }
  require<DataError>(!record->inputs.empty(),
                     "'{}' has no column to learn from: all {}are constants, identifiers or left "
                     "out{}",
                     rows.name(), novelty ? "" : "but the target ", why_texts(rows));
  return TableTransform(std::move(record));
}

}  // namespace linnet
