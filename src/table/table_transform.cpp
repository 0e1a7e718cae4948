// SPDX-License-Identifier: Apache-2.0
// From rows to samples.
#include <linnet/table_transform.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/check.h"
#include "base/memory.h"
#include "describe/nearest.h"
#include "table/contents.h"
#include "table/transform_record.h"

namespace linnet {
namespace {

constexpr double kDaysOfYear = 365.2425;
const std::string kNoTarget;
const std::vector<std::string> kNoClasses;

using Places = std::unordered_map<std::string_view, std::int32_t>;

Places places_of(const std::vector<std::string>& texts, std::int32_t first) {
  Places places;
  for (const std::string& text : texts) places.emplace(text, first++);
  return places;
}

/// Where a table has the columns that a transform knows.
class Matching {
 public:
  Matching(const TransformRecord& record, const Table& table) : record_(record), table_(table) {
    by_name_ = record.header && table.has_header();
    const std::size_t own = table.columns().size();
    const std::size_t known = record.columns.size();
    require<DataError>(by_name_ || own == known || own + 1 == known,
                       "'{}' has {} columns; the model learned from {}, the target '{}' among them",
                       table.name(), own, known, column_of(record.target));
    without_target_ = !by_name_ && own + 1 == known;
  }

  std::optional<std::size_t> find(const std::string& column) const {
    if (by_name_) {
      for (std::size_t i = 0; i < table_.columns().size(); ++i) {
        if (table_.columns()[i].name == column) return i;
      }
      return std::nullopt;
    }
    const std::size_t place = place_of(column);
    const std::size_t target = place_of(column_of(record_.target));
    if (!without_target_) return place;
    if (place == target) return std::nullopt;
    return place - (place > target ? 1 : 0);
  }

  std::size_t need(const std::string& column) const {
    const std::optional<std::size_t> found = find(column);
    if (found) return *found;
    std::vector<std::string> names;
    for (const TableColumn& one : table_.columns()) names.push_back(one.name);
    fail<DataError>("'{}' has no column '{}', from which the model learned{}", table_.name(),
                    column, did_you_mean(column, names));
  }

 private:
  std::size_t place_of(const std::string& column) const {
    return static_cast<std::size_t>(std::ranges::find(record_.columns, column) -
                                    record_.columns.begin());
  }

  const TransformRecord& record_;
  const Table& table_;
  bool by_name_ = false;
  bool without_target_ = false;
};

/// Writes the features of one input, column by column.
class FeatureWriter {
 public:
  FeatureWriter(const Table& table, std::span<float> to, std::size_t features)
      : table_(table), to_(to), features_(features) {}

  void operator()(const NumberInput& input, std::size_t column) {
    for (std::int64_t row = 0; row < table_.rows(); ++row) {
      const bool missing = table_.missing(row, column);
      const double value = missing ? input.fill : table_.number(row, column);
      put(row, 0, standardised(value, input.mean, input.std, row, column));
      if (input.indicator) put(row, 1, missing ? 1 : 0);
    }
    first_ += input.indicator ? 2 : 1;
  }

  void operator()(const BooleanInput& input, std::size_t column) {
    for (std::int64_t row = 0; row < table_.rows(); ++row) {
      const std::string_view text = table_.text(row, column);
      const std::optional<bool> value = boolean_of(text);
      require<DataError>(value || text.empty(), "{}: expected a boolean; got '{}'",
                         table_.place(row, column), text);
      put(row, 0, value ? (*value ? 1 : 0) : input.fill);
      if (input.indicator) put(row, 1, value ? 0 : 1);
    }
    first_ += input.indicator ? 2 : 1;
  }

  void operator()(const CategoryInput& input, std::size_t column) {
    if (input.embedded) return;
    const Places places = places_of(input.categories, 1);
    for (std::int64_t row = 0; row < table_.rows(); ++row) {
      put(row, static_cast<std::size_t>(place_in(input, places, table_.text(row, column))), 1);
    }
    first_ += static_cast<std::size_t>(input.places());
  }

  void operator()(const DateInput& input, std::size_t column) {
    const std::size_t circles = input.times ? 3 : 2;
    for (std::int64_t row = 0; row < table_.rows(); ++row) {
      const std::string_view text = table_.text(row, column);
      const std::optional<DateTime> date = date_of(text, input.order);
      require<DataError>(date || text.empty(), "{}: expected a date as {}; got '{}'",
                         table_.place(row, column), example(input.order), text);
      const double day = date ? static_cast<double>(date->day) + date->seconds / 86400 : input.fill;
      put(row, 0, standardised(day, input.mean, input.std, row, column));
      if (date) {
        circle(row, 1, date->day_of_year() / kDaysOfYear);
        circle(row, 3, date->weekday() / 7.0);
        if (input.times) circle(row, 5, date->seconds / 86400);
      }
      if (input.indicator) put(row, 1 + 2 * circles, date ? 0 : 1);
    }
    first_ += 1 + 2 * circles + (input.indicator ? 1 : 0);
  }

  static std::int32_t place_in(const CategoryInput& input, const Places& places,
                               std::string_view text) {
    if (text.empty()) return input.missing ? static_cast<std::int32_t>(input.places() - 1) : 0;
    const auto found = places.find(text);
    return found == places.end() ? 0 : found->second;
  }

 private:
  static const char* example(DateOrder order) {
    return order == DateOrder::year_first  ? "2024-12-31"
           : order == DateOrder::day_first ? "31/12/2024"
                                           : "12/31/2024";
  }
  void put(std::int64_t row, std::size_t feature, double value) {
    to_[static_cast<std::size_t>(row) * features_ + first_ + feature] = static_cast<float>(value);
  }
  void circle(std::int64_t row, std::size_t feature, double turn) {
    put(row, feature, std::sin(2 * std::numbers::pi * turn));
    put(row, feature + 1, std::cos(2 * std::numbers::pi * turn));
  }
  double standardised(double value, double mean, double std, std::int64_t row,
                      std::size_t column) const {
    const double scaled = (value - mean) / std;
    require<DataError>(std::abs(scaled) <= std::numeric_limits<float>::max(),
                       "{}: {} is too far from the training's mean {}", table_.place(row, column),
                       value, mean);
    return scaled;
  }

  const Table& table_;
  std::span<float> to_;
  std::size_t features_;
  std::size_t first_ = 0;
};

/// Labels by text; a last dot that the training's labels lack is passed over.
class Labels {
 public:
  Labels(const Table& table, const std::vector<std::string>& classes)
      : table_(table), classes_(classes), places_(places_of(classes, 0)) {}

  std::int32_t operator()(std::int64_t row, std::size_t column) {
    std::string_view text = table_.text(row, column);
    require<DataError>(!text.empty(), "{}: the target is missing", table_.place(row, column));
    auto found = places_.find(text);
    if (found == places_.end() && text.ends_with('.')) {
      found = places_.find(text.substr(0, text.size() - 1));
      if (found != places_.end()) ++dots_;
    }
    if (found == places_.end()) {
      constexpr std::size_t kMostListed = 20;
      const bool few = classes_.size() <= kMostListed;
      fail<DataError>("{}: the label '{}' is none of the model's {} classes{}",
                      table_.place(row, column), text, classes_.size(),
                      few ? ": " + listed(classes_) : std::string());
    }
    return found->second;
  }

  void add_note(std::vector<std::string>& notes) const {
    if (dots_ == 0) return;
    notes.push_back(
        fmt::format("{} labels of '{}' end in a dot that the model's classes lack; they "
                    "are read without it",
                    dots_, table_.name()));
  }

 private:
  const Table& table_;
  const std::vector<std::string>& classes_;
  Places places_;
  std::int64_t dots_ = 0;
};

std::vector<Column> inputs_of(const TransformRecord& record, const Table& rows,
                              const Matching& matching, std::int64_t features,
                              std::int64_t id_columns) {
  std::vector<Column> columns;
  const auto count = static_cast<std::size_t>(rows.rows());
  if (features > 0) {
    std::vector<float> values(count * static_cast<std::size_t>(features));
    FeatureWriter write(rows, values, static_cast<std::size_t>(features));
    for (const TableInput& input : record.inputs) {
      const std::size_t column = matching.need(column_of(input));
      std::visit([&](const auto& of) { write(of, column); }, input);
    }
    columns.push_back(
        {.name = "numbers", .data = Tensor(std::move(values), {rows.rows(), features})});
  }
  if (id_columns == 0) return columns;
  std::vector<std::int32_t> ids(count * static_cast<std::size_t>(id_columns));
  std::size_t at = 0;
  std::int32_t offset = 0;
  for (const TableInput& input : record.inputs) {
    const auto* category = std::get_if<CategoryInput>(&input);
    if (category == nullptr || !category->embedded) continue;
    const std::size_t column = matching.need(category->column);
    const Places places = places_of(category->categories, 1);
    for (std::size_t row = 0; row < count; ++row) {
      const std::string_view text = rows.text(static_cast<std::int64_t>(row), column);
      ids[row * static_cast<std::size_t>(id_columns) + at] =
          offset + FeatureWriter::place_in(*category, places, text);
    }
    offset += static_cast<std::int32_t>(category->places());
    ++at;
  }
  columns.push_back(
      {.name = "categories", .data = Tensor(std::move(ids), {rows.rows(), id_columns})});
  return columns;
}

const CategoryInput* embedded(const TableInput& input) {
  const auto* category = std::get_if<CategoryInput>(&input);
  return category != nullptr && category->embedded ? category : nullptr;
}

}  // namespace

TableTransform::TableTransform(std::shared_ptr<const TransformRecord> record)
    : record_(std::move(record)) {}

Dataset TableTransform::inputs(const Table& rows) const {
  require(!empty(), "the table transform is empty; fit() makes one");
  return in_memory(fmt::format("the samples of '{}'", rows.name()), [&] {
    const Matching matching(*record_, rows);
    const auto features = static_cast<std::int64_t>(feature_names().size());
    return Dataset(inputs_of(*record_, rows, matching, features, id_columns()), {},
                   {.name = rows.name()});
  });
}

Dataset TableTransform::transform(const Table& rows) const {
  const Dataset samples = inputs(rows);
  const Matching matching(*record_, rows);
  const std::size_t column = matching.need(target());
  DatasetInfo info{.name = rows.name(), .classes = classes()};
  const auto count = static_cast<std::size_t>(rows.rows());
  if (std::holds_alternative<ClassTarget>(record_->target)) {
    std::vector<std::int32_t> labels(count);
    Labels label(rows, classes());
    for (std::size_t i = 0; i < count; ++i) labels[i] = label(static_cast<std::int64_t>(i), column);
    label.add_note(info.notes);
    return {samples.inputs(),
            {{.name = target(), .data = Tensor(std::move(labels), {rows.rows()})}},
            std::move(info)};
  }
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const double value = rows.number(row, column);
    require<DataError>(!std::isnan(value), "{}: the target is missing", rows.place(row, column));
    require<DataError>(std::abs(value) <= std::numeric_limits<float>::max(),
                       "{}: {} is beyond 32-bit floating-point numbers", rows.place(row, column),
                       value);
    values[i] = static_cast<float>(value);
  }
  return {samples.inputs(),
          {{.name = target(), .data = Tensor(std::move(values), {rows.rows(), 1})}},
          std::move(info)};
}

const std::string& TableTransform::target() const {
  return empty() ? kNoTarget : column_of(record_->target);
}
const std::vector<std::string>& TableTransform::classes() const {
  const auto* target = empty() ? nullptr : std::get_if<ClassTarget>(&record_->target);
  return target != nullptr ? target->classes : kNoClasses;
}
double TableTransform::target_mean() const {
  const auto* target = empty() ? nullptr : std::get_if<ValueTarget>(&record_->target);
  return target != nullptr ? target->mean : 0;
}
double TableTransform::target_std() const {
  const auto* target = empty() ? nullptr : std::get_if<ValueTarget>(&record_->target);
  return target != nullptr ? target->std : 1;
}

std::vector<std::string> TableTransform::feature_names() const {
  std::vector<std::string> all;
  if (empty()) return all;
  for (const TableInput& input : record_->inputs) {
    for (std::string& name : names_of(input)) all.push_back(std::move(name));
  }
  return all;
}

std::int64_t TableTransform::id_columns() const {
  return empty() ? 0 : std::ranges::count_if(record_->inputs, [](const TableInput& input) {
    return embedded(input) != nullptr;
  });
}

std::int64_t TableTransform::vocabulary() const {
  std::int64_t ids = 0;
  if (empty()) return ids;
  for (const TableInput& input : record_->inputs) {
    if (const CategoryInput* category = embedded(input)) ids += category->places();
  }
  return ids;
}

TableOptions TableTransform::reading() const {
  TableOptions options;
  if (empty()) return options;
  options.missing = record_->missing;
  if (!record_->header) options.header = false;
  return options;
}

std::string TableTransform::to_json() const { return empty() ? "" : json_of(*record_); }
TableTransform TableTransform::from_json(const std::string& text) {
  return TableTransform(std::make_shared<const TransformRecord>(transform_record_from(text)));
}

}  // namespace linnet
