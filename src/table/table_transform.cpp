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

#include "base/ascii.h"
#include "base/check.h"
#include "base/counted.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "describe/nearest.h"
#include "table/column_reader.h"
#include "table/learned_range.h"
#include "table/scaling.h"
#include "table/transform_record.h"

namespace linnet {
namespace {

constexpr double kDaysOfYear = 365.2425;
/// The most numbers of a column that a data set keeps in f64 too.
constexpr std::size_t kMostExact = std::size_t{1} << 22;

using Places = std::unordered_map<std::string_view, std::int32_t>;

/// The places of texts, as they are written and as whole numbers are.
Places places_of(const std::vector<std::string>& texts, std::int32_t first) {
  Places places;
  std::int32_t next = first;
  for (const std::string& text : texts) places.emplace(text, next++);
  next = first;
  for (const std::string& text : texts) places.emplace(whole_text(text), next++);
  return places;
}
std::optional<std::int32_t> find(const Places& places, std::string_view text) {
  auto found = places.find(text);
  if (found == places.end()) found = places.find(whole_text(text));
  return found == places.end() ? std::nullopt : std::optional(found->second);
}

/// Where a table has the columns that a transform knows.
class Matching {
 public:
  Matching(const TransformRecord& record, const Table& table)
      : record_(record), table_(table), targets_(columns_of(record.target)) {
    std::vector<std::string_view> inputs;
    for (const TableInput& input : record.inputs) inputs.push_back(column_of(input));
    require<DataError>(!record.reading.header || !is_header_alone(*table.contents(), inputs),
                       "'{}' holds a header and no rows", table.name());
    const std::size_t own = table.columns().size();
    const std::size_t known = record.columns.size();
    by_name_ = table.has_header() && (record.reading.header || has_inputs());
    const std::size_t left_out = targets_.size();
    require<DataError>(by_name_ || own == known || own + left_out == known,
                       "'{}' has {} columns; the model learned from {}, {} among them",
                       table.name(), own, known,
                       left_out == 1   ? fmt::format("the target '{}'", targets_[0])
                       : left_out == 0 ? "no target"
                                       : fmt::format("{} targets", left_out));
    without_targets_ = !by_name_ && own + left_out == known;
  }

  std::optional<std::size_t> find(const std::string& column) const {
    if (by_name_) {
      for (std::size_t i = 0; i < table_.columns().size(); ++i) {
        if (table_.columns()[i].name == column) return i;
      }
      return std::nullopt;
    }
    const std::size_t place = place_of(column);
    if (!without_targets_) return place;
    if (std::ranges::count(targets_, column) > 0) return std::nullopt;
    const auto before = std::ranges::count_if(targets_, [&](const std::string& target) {
      return place_of(target) < place;
    });
    return place - static_cast<std::size_t>(before);
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
  bool has_inputs() const {
    return std::ranges::all_of(record_.inputs, [&](const TableInput& input) {
      return std::ranges::count(table_.columns(), column_of(input), &TableColumn::name) > 0;
    });
  }

  const TransformRecord& record_;
  const Table& table_;
  std::vector<std::string> targets_;
  bool by_name_ = false;
  bool without_targets_ = false;
};

/// A column's numbers; missing ones lie on the line between the rows before and after.
std::vector<double> interpolated(const ColumnReader& column, double otherwise) {
  std::vector<double> values(static_cast<std::size_t>(column.rows()), otherwise);
  std::size_t next = 0;  // the first row after the last number
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (column.missing(static_cast<std::int64_t>(row))) continue;
    values[row] = column.number(static_cast<std::int64_t>(row));
    const double from = next == 0 ? values[row] : values[next - 1];
    const double steps = static_cast<double>(row + 1 - next);
    for (std::size_t i = next; i < row; ++i) {
      values[i] = from + (values[row] - from) * static_cast<double>(i + 1 - next) / steps;
    }
    next = row + 1;
  }
  if (next > 0)
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(next), values.end(), values[next - 1]);
  return values;
}

/// Texts of a column that the training rows had not.
class UnknownTexts {
 public:
  void add(std::string_view text) {
    if (count_++ == 0) first_ = text;
  }
  void add_note(const Table& table, const std::string& column,
                std::vector<std::string>& notes) const {
    if (count_ == 0) return;
    notes.push_back(fmt::format("{} of '{}' in column '{}' {} unknown to the model, such as '{}'",
                                counted(count_, "value"), table.name(), column,
                                count_ == 1 ? "is" : "are", first_));
  }

 private:
  std::int64_t count_ = 0;
  std::string_view first_;
};

/// The places of a column's categories.
class Categories {
 public:
  explicit Categories(const CategoryInput& input)
      : input_(input), places_(places_of(input.categories, 1)) {}

  std::int32_t operator()(const ColumnReader& column, std::int64_t row) {
    const std::string_view field = column.field(row);
    if (const auto known = find(places_, field); known && !field.empty()) return *known;
    const std::string_view text = column.text(row);
    if (text.empty() && input_.missing) return static_cast<std::int32_t>(input_.places() - 1);
    if (text.empty() && !input_.fill.empty()) return *find(places_, input_.fill);
    if (!text.empty() && !input_.categories.empty()) unknown_.add(text);
    return 0;
  }

  void add_note(const Table& table, std::vector<std::string>& notes) const {
    unknown_.add_note(table, input_.column, notes);
  }

 private:
  const CategoryInput& input_;
  Places places_;
  UnknownTexts unknown_;
};

/// The values of a column's texts; nothing for those that the training rows had not.
class Booleans {
 public:
  explicit Booleans(const BooleanInput& input) : words_(input.words) {}

  std::optional<bool> operator()(std::string_view text) const {
    const std::optional<bool> value = boolean_of(text);
    if (!value || words_.empty()) return value;
    const std::string lower = lower_ascii(whole_text(text));
    const bool everywhere = lower == "0" || lower == "1" || lower == "false" || lower == "true";
    return everywhere || std::ranges::find(words_, lower) != words_.end() ? value : std::nullopt;
  }

 private:
  const std::vector<std::string>& words_;
};

/// WrittenNumbers of a column of samples: in f64, which a data set keeps beside those in f32, or of
/// many in f32 alone.
class WrittenNumbers {
 public:
  explicit WrittenNumbers(std::size_t count) {
    count > kMostExact ? rounded_.resize(count) : exact_.resize(count);
  }
  void set(std::size_t i, double value) {
    rounded_.empty() ? exact_[i] = value : rounded_[i] = static_cast<float>(value);
  }
  Tensor tensor(Shape shape) && {
    return rounded_.empty() ? Tensor(std::move(exact_), std::move(shape))
                            : Tensor(std::move(rounded_), std::move(shape));
  }

 private:
  std::vector<double> exact_;
  std::vector<float> rounded_;
};

/// Writes the features of one input, column by column.
class FeatureWriter {
 public:
  FeatureWriter(const Table& table, WrittenNumbers& to, std::size_t features,
                std::vector<std::string>& notes)
      : table_(table), to_(to), features_(features), notes_(notes) {}

  void operator()(const NumberInput& input, const ColumnReader& column) {
    std::vector<double> between;
    if (input.interpolate) between = interpolated(column, input.fill);
    bool outside = false;
    for (std::int64_t row = 0; row < column.rows(); ++row) {
      const bool missing = column.missing(row);
      const double value = !missing            ? column.number(row)
                           : input.interpolate ? between[static_cast<std::size_t>(row)]
                                               : input.fill;
      put(row, 0, in_f32(scaled(input, value), value, row, column));
      if (input.indicator) put(row, 1, missing ? 1 : 0);
      if (!missing && is_outside(input.range, value)) {
        if (!outside) begin_numbers(input);
        outside = true;
        outside_.add(fmt::format("{:.7g}", value));
      }
    }
    first_ += input.indicator ? 2 : 1;
  }

  void operator()(const BooleanInput& input, const ColumnReader& column) {
    const Booleans value_of(input);
    UnknownTexts unknown;
    for (std::int64_t row = 0; row < column.rows(); ++row) {
      const std::string_view text = column.text(row);
      const std::optional<bool> value = text.empty() ? std::nullopt : value_of(text);
      if (!value && !text.empty()) unknown.add(text);
      put(row, 0, value ? (*value ? 1 : 0) : input.fill);
      if (input.indicator) put(row, 1, value ? 0 : 1);
    }
    unknown.add_note(table_, input.column, notes_);
    first_ += input.indicator ? 2 : 1;
  }

  void operator()(const CategoryInput& input, const ColumnReader& column) {
    if (input.embedded) return;
    Categories place(input);
    for (std::int64_t row = 0; row < column.rows(); ++row) {
      put(row, static_cast<std::size_t>(place(column, row)), 1);
    }
    place.add_note(table_, notes_);
    first_ += static_cast<std::size_t>(input.places());
  }

  void operator()(const DateInput& input, const ColumnReader& column) {
    const std::size_t circles = input.times ? 3 : 2;
    bool far = false;
    for (std::int64_t row = 0; row < column.rows(); ++row) {
      const std::string_view text = column.text(row);
      const std::optional<DateTime> date = date_of(text, input.reading());
      if (!date && !text.empty()) {
        fail<DataError>("{}: expected a date as {}; got '{}'", column.place(row),
                        example(input.order), in_message(text));
      }
      const double day = date ? static_cast<double>(date->day) + date->seconds / 86400 : input.fill;
      put(row, 0, in_f32((day - input.mean) / input.std, day, row, column));
      if (date && is_far(input.range, day, 1)) {
        if (!far) {
          outside_.begin(input.column, "far from the training's dates", days_text(input.range));
        }
        far = true;
        outside_.add(std::string(in_message(text)));
      }
      if (date) {
        circle(row, 1, date->day_of_year() / kDaysOfYear);
        circle(row, 3, date->weekday() / 7.0);
        if (input.times) circle(row, 5, date->seconds / 86400);
      }
      if (input.indicator) put(row, 1 + 2 * circles, date ? 0 : 1);
    }
    first_ += 1 + 2 * circles + (input.indicator ? 1 : 0);
  }

  /// Says what the training had no rows of.
  void finish() const { outside_.finish(table_.name(), notes_); }

 private:
  void begin_numbers(const NumberInput& input) {
    outside_.begin(input.column, "outside the training's range", numbers_text(input.range));
  }
  static const char* example(DateOrder order) {
    return order == DateOrder::year_first  ? "2024-12-31"
           : order == DateOrder::day_first ? "31/12/2024"
                                           : "12/31/2024";
  }
  void put(std::int64_t row, std::size_t feature, double value) {
    to_.set(static_cast<std::size_t>(row) * features_ + first_ + feature, value);
  }
  void circle(std::int64_t row, std::size_t feature, double turn) {
    put(row, feature, std::sin(2 * std::numbers::pi * turn));
    put(row, feature + 1, std::cos(2 * std::numbers::pi * turn));
  }
  static double in_f32(double feature, double value, std::int64_t row, const ColumnReader& column) {
    require<DataError>(std::abs(feature) <= std::numeric_limits<float>::max(),
                       "{}: {} is too far from the training's numbers", column.place(row), value);
    return feature;
  }

  const Table& table_;
  WrittenNumbers& to_;
  std::size_t features_;
  std::vector<std::string>& notes_;
  std::size_t first_ = 0;
  OutsideNotes outside_ = {};
};

/// Labels by text; a last dot that the training's labels lack is passed over.
class Labels {
 public:
  Labels(const Table& table, const std::vector<std::string>& classes)
      : table_(table), classes_(classes), places_(places_of(classes, 0)) {}

  std::int32_t operator()(std::int64_t row, std::size_t column) {
    const std::string_view text = table_.field(row, column);
    std::optional<std::int32_t> found = text.empty() ? std::nullopt : find(places_, text);
    require<DataError>(found || !table_.missing(row, column), "{}: the target is missing",
                       table_.place(row, column));
    if (!found && text.ends_with('.')) {
      found = find(places_, text.substr(0, text.size() - 1));
      if (found) ++dots_;
    }
    if (!found) {
      fail<DataError>("{}: the label '{}' is none of the model's {} classes: {}",
                      table_.place(row, column), shortened(text, 200), classes_.size(),
                      listed(classes_));
    }
    return *found;
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

/// The value of a target, less what networks do not learn of it.
double value_of(const ColumnReader& column, std::int64_t row, double offset) {
  const double value = column.number(row) - offset;
  require<DataError>(std::abs(value) <= std::numeric_limits<float>::max(),
                     "{}: {} is beyond 32-bit floating-point numbers", column.place(row), value);
  return value;
}

/// 0 or 1 of a label.
double answer_of(const ColumnReader& column, std::int64_t row) {
  const std::optional<bool> answer = boolean_of(column.text(row));
  if (!answer) {
    fail<DataError>("{}: expected a label of 0 or 1; got '{}'", column.place(row),
                    in_message(column.text(row)));
  }
  return *answer ? 1 : 0;
}

std::vector<Column> inputs_of(const TransformRecord& record, const Table& rows,
                              const Matching& matching, std::int64_t features,
                              std::int64_t id_columns, std::vector<std::string>& notes) {
  std::vector<Column> columns;
  const auto count = static_cast<std::size_t>(rows.rows());
  if (features > 0) {
    WrittenNumbers values(count * static_cast<std::size_t>(features));
    FeatureWriter write(rows, values, static_cast<std::size_t>(features), notes);
    for (const TableInput& input : record.inputs) {
      const std::string& name = column_of(input);
      const ColumnReader column(rows, matching.need(name), record.reading, name);
      std::visit([&](const auto& of) { write(of, column); }, input);
    }
    write.finish();
    columns.push_back(
        {.name = "numbers", .data = std::move(values).tensor({rows.rows(), features})});
  }
  if (id_columns == 0) return columns;
  std::vector<std::int32_t> ids(count * static_cast<std::size_t>(id_columns));
  std::size_t at = 0;
  std::int32_t offset = 0;
  for (const TableInput& input : record.inputs) {
    const auto* category = std::get_if<CategoryInput>(&input);
    if (category == nullptr || !category->embedded) continue;
    const ColumnReader column(rows, matching.need(category->column), record.reading,
                              category->column);
    Categories place(*category);
    for (std::size_t row = 0; row < count; ++row) {
      ids[row * static_cast<std::size_t>(id_columns) + at] =
          offset + place(column, static_cast<std::int64_t>(row));
    }
    place.add_note(rows, notes);
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
    DatasetInfo info{.name = rows.name()};
    std::vector<Column> columns =
        inputs_of(*record_, rows, matching, features, id_columns(), info.notes);
    return Dataset(std::move(columns), {}, std::move(info));
  });
}

Dataset TableTransform::transform(const Table& rows) const {
  const Dataset samples = inputs(rows);
  const Matching matching(*record_, rows);
  DatasetInfo info{.name = rows.name(), .classes = classes(), .notes = samples.info().notes};
  if (const auto* of = std::get_if<ClassTarget>(&record_->target)) {
    std::vector<std::int32_t> labels(static_cast<std::size_t>(rows.rows()));
    Labels label(rows, of->classes);
    const std::size_t column = matching.need(of->column);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i] = label(static_cast<std::int64_t>(i), column);
    }
    label.add_note(info.notes);
    return {samples.inputs(),
            {{.name = target(), .data = Tensor(std::move(labels), {rows.rows()})}},
            std::move(info)};
  }
  if (target_kind() == TableTarget::novelty) {
    // A network of novelties learns to bring its output to 0.
    return {samples.inputs(),
            {{.name = target(), .data = Tensor(DType::f32, {rows.rows(), 1})}},
            std::move(info)};
  }
  const std::vector<std::string> names = targets();
  WrittenNumbers values(static_cast<std::size_t>(rows.rows()) * names.size());
  const bool labels = target_kind() == TableTarget::labels;
  const std::vector<double> offsets = target_offsets();
  for (std::size_t t = 0; t < names.size(); ++t) {
    const ColumnReader column(rows, matching.need(names[t]), record_->reading, names[t]);
    for (std::int64_t row = 0; row < rows.rows(); ++row) {
      require<DataError>(!column.missing(row), "{}: the target is missing", column.place(row));
      values.set(static_cast<std::size_t>(row) * names.size() + t,
                 labels ? answer_of(column, row) : value_of(column, row, offsets[t]));
    }
  }
  const Shape shape{rows.rows(), std::ssize(names)};
  return {samples.inputs(),
          {{.name = names.size() == 1 ? names[0] : "targets",
            .data = std::move(values).tensor(shape)}},
          std::move(info)};
}

const std::string& TableTransform::target() const {
  static const std::string kNone;
  if (empty()) return kNone;
  const LearnedTarget& of = record_->target;
  if (const auto* classes = std::get_if<ClassTarget>(&of)) return classes->column;
  if (const auto* value = std::get_if<ValueTarget>(&of)) return value->column;
  if (const auto* values = std::get_if<ValuesTarget>(&of)) return values->columns[0];
  if (const auto* labels = std::get_if<LabelsTarget>(&of)) return labels->columns[0];
  static const std::string kNovelty = "novelty";
  return kNovelty;
}
std::vector<std::string> TableTransform::targets() const {
  if (target_kind() == TableTarget::novelty) return {target()};
  return empty() ? std::vector<std::string>() : columns_of(record_->target);
}
TableTarget TableTransform::target_kind() const {
  return empty() ? TableTarget::value : kind_of(record_->target);
}
const std::vector<std::string>& TableTransform::classes() const {
  static const std::vector<std::string> kNone;
  if (empty()) return kNone;
  if (const auto* of = std::get_if<ClassTarget>(&record_->target)) return of->classes;
  if (const auto* of = std::get_if<LabelsTarget>(&record_->target)) return of->columns;
  return kNone;
}
std::vector<double> TableTransform::target_means() const {
  if (empty()) return {};
  if (const auto* of = std::get_if<ValueTarget>(&record_->target)) return {of->mean};
  if (const auto* of = std::get_if<ValuesTarget>(&record_->target)) return of->means;
  return {};
}
std::vector<double> TableTransform::target_stds() const {
  if (empty()) return {};
  if (const auto* of = std::get_if<ValueTarget>(&record_->target)) return {of->std};
  if (const auto* of = std::get_if<ValuesTarget>(&record_->target)) return of->stds;
  return {};
}

std::vector<double> TableTransform::target_offsets() const {
  if (empty()) return {};
  if (const auto* of = std::get_if<ValueTarget>(&record_->target)) return {of->offset};
  const auto* of = std::get_if<ValuesTarget>(&record_->target);
  if (of == nullptr) return {};
  return of->offsets.empty() ? std::vector<double>(of->columns.size()) : of->offsets;
}

std::vector<std::string> TableTransform::input_columns() const {
  std::vector<std::string> names;
  if (empty()) return names;
  for (const TableInput& input : record_->inputs) names.push_back(column_of(input));
  return names;
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
  return empty() ? TableOptions() : record_->reading.options();
}

std::string TableTransform::to_json() const { return empty() ? "" : json_of(*record_); }
TableTransform TableTransform::from_json(const std::string& text) {
  return TableTransform(std::make_shared<const TransformRecord>(transform_record_from(text)));
}

}  // namespace linnet
