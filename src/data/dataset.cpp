// SPDX-License-Identifier: Apache-2.0
#include <linnet/dataset.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "base/utf8.h"
#include "data/lengths.h"
#include "data/targets.h"

namespace linnet {
namespace {

bool is_input_type(DType dtype) {
  return dtype == DType::u8 || dtype == DType::f32 || dtype == DType::i32;
}

/// Returns what a column of `dtype` is read as.
DType type_read(DType dtype, bool target) {
  switch (dtype) {
    case DType::u8:
    case DType::boolean: return target ? DType::i32 : DType::u8;
    case DType::i32:
    case DType::i64: return DType::i32;
    case DType::f32:
    case DType::f64:
    case DType::f16:
    case DType::bf16: break;
  }
  return DType::f32;
}

void check_record(const std::string& name, const Shape& record) {
  for (const std::int64_t dim : record.dims()) {
    require<DataError>(dim > 0,
                       "the records of the column '{}' are {}; expected dims of at least 1", name,
                       to_string(record));
  }
}

void check_source(const Column& column, bool target) {
  const RecordSource& source = *column.source;
  require<DataError>(column.data.elements() == 0,
                     "the column '{}' has its records both in memory and in a source", column.name);
  require<DataError>(source.size() >= 0, "the source of the column '{}' has {} records",
                     column.name, source.size());
  require<DataError>(is_input_type(source.dtype()),
                     "the source of the column '{}' gives {}; expected u8, f32 or i32", column.name,
                     to_string(source.dtype()));
  require<DataError>(
      !target || source.dtype() == DType::f32,
      "the source of the target '{}' gives {}; expected f32 values, or labels in memory",
      column.name, to_string(source.dtype()));
  check_record(column.name, source.record());
}

/// Returns whether `data` is `exact` rounded to f32: bit by bit, but for NaN.
bool is_rounded(const Tensor& data, const Tensor& exact) {
  if (data.dtype() != DType::f32 || data.shape() != exact.shape()) return false;
  return std::ranges::equal(data.as<float>(), exact.as<double>(), [](float x, double whole) {
    return x == static_cast<float>(whole) || (std::isnan(x) && std::isnan(whole));
  });
}

/// Keeps what was given in f64 beside what is read of it.
void settle_exact(Column& column, const Tensor& given) {
  if (given.dtype() == DType::f64 && column.data.dtype() == DType::f32) {
    column.exact = given;
    return;
  }
  const bool fits = column.exact.dtype() == DType::f64 && is_rounded(column.data, column.exact);
  if (!fits) column.exact = Tensor();
}

/// Brings a column into the types that are read.
void settle(Column& column, bool target) {
  require<DataError>(!column.name.empty(), "{} of a data set has no name",
                     target ? "a target" : "an input");
  if (column.source != nullptr) return check_source(column, target);
  require<DataError>(column.data.shape().rank() > 0,
                     "the column '{}' is a single number; expected records (N, ...)", column.name);
  check_record(column.name, column.data.shape().sample());
  const DType dtype = type_read(column.data.dtype(), target);
  try {
    const Tensor given = column.data.to_host();
    column.data = given.to(dtype);
    settle_exact(column, given);
  } catch (const Error& error) {
    fail<DataError>("the column '{}' is read as {}: {}", column.name, to_string(dtype),
                    error.what());
  }
  if (!target || dtype != DType::i32) return;
  if (column.data.shape().sample() != Shape{1}) return;
  column.data = column.data.reshaped({column.data.shape()[0]});
}

/// Brings lengths into (N) i32.
void settle_lengths(Column& column, bool target) {
  if (!column.has_lengths()) return;
  const DType dtype = column.lengths.dtype();
  const Shape& shape = column.lengths.shape();
  require<DataError>((dtype == DType::i32 || dtype == DType::i64) &&
                         column.lengths.elements() == shape[0] && shape[0] == column.size(),
                     "the lengths of the column '{}' are {} {}; expected i32 or i64 ({})",
                     column.name, to_string(dtype), to_string(shape), column.size());
  const Shape record = column.record();
  require<DataError>(
      record.rank() > 0,
      "the column '{}' has lengths, but its records are single numbers; expected (N, steps, "
      "...)",
      column.name);
  const Tensor wide = column.lengths.to_host().to(DType::i64);
  check_lengths(wide.as<std::int64_t>(), column.name, target ? 0 : 1, record[0]);
  column.lengths = column.lengths.to_host().to(DType::i32).reshaped({column.size()});
}

void check_classes(const DatasetInfo& info) {
  std::set<std::string_view> seen;
  for (std::size_t c = 0; c < info.classes.size(); ++c) {
    require<DataError>(is_utf8(info.classes[c]),
                       "the name '{}' of class {} in '{}' is not UTF-8, which a model file needs",
                       escaped(info.classes[c]), c, info.name);
    require<DataError>(seen.insert(info.classes[c]).second, "two classes of '{}' are called '{}'",
                       info.name, info.classes[c]);
  }
}

}  // namespace

std::int64_t Column::size() const {
  if (source != nullptr) return source->size();
  return data.shape().rank() > 0 ? data.shape()[0] : 0;
}

DType Column::dtype() const { return source != nullptr ? source->dtype() : data.dtype(); }

Shape Column::record() const {
  if (source != nullptr) return source->record();
  return data.shape().rank() > 0 ? data.shape().sample() : Shape();
}

struct Dataset::Contents {
  std::vector<Column> inputs;
  std::vector<Column> targets;
  std::int64_t size = 0;
};

Dataset::Dataset(std::vector<Column> inputs, std::vector<Column> targets, DatasetInfo info) {
  const Column* first = nullptr;
  std::set<std::string_view> names;
  for (std::vector<Column>* side : {&inputs, &targets}) {
    for (Column& column : *side) {
      settle(column, side == &targets);
      settle_lengths(column, side == &targets);
      require<DataError>(names.insert(column.name).second,
                         "two columns of a data set are called '{}'", column.name);
      if (first == nullptr) first = &column;
      require<DataError>(column.size() == first->size(),
                         "the column '{}' has {} records, but '{}' has {}; expected one record of "
                         "each for every sample",
                         column.name, column.size(), first->name, first->size());
    }
  }
  const std::int64_t size = first != nullptr ? first->size() : 0;
  contents_ = std::make_shared<Contents>(Contents{std::move(inputs), std::move(targets), size});
  set_info(std::move(info));
}

std::int64_t Dataset::size() const { return contents_ != nullptr ? contents_->size : 0; }

const std::vector<Column>& Dataset::inputs() const {
  static const std::vector<Column> none;
  return contents_ != nullptr ? contents_->inputs : none;
}

const std::vector<Column>& Dataset::targets() const {
  static const std::vector<Column> none;
  return contents_ != nullptr ? contents_->targets : none;
}

const Column& Dataset::column(std::string_view name) const {
  std::string names;
  for (const std::vector<Column>* side : {&inputs(), &targets()}) {
    for (const Column& column : *side) {
      if (column.name == name) return column;
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", column.name);
    }
  }
  fail("the data set '{}' has no column '{}'; it has {}", info().name, name,
       names.empty() ? "none" : names);
}

struct Dataset::Marks {
  Tensor weights;
  Tensor folds;
};

const Tensor& Dataset::weights() const {
  static const Tensor none;
  return marks_ != nullptr ? marks_->weights : none;
}

void Dataset::set_weights(const Tensor& weights) {
  if (weights.elements() == 0) {
    marks_ = folds().elements() > 0 ? std::make_shared<const Marks>(Marks{{}, folds()}) : nullptr;
    return;
  }
  const Shape& given = weights.shape();
  require<DataError>((given.rank() == 1 || given.rank() == 2) && given[0] == size(),
                     "the weights of '{}' are {}; expected ({}), or ({}, steps)", info().name,
                     to_string(given), size(), size());
  const Shape shape = given.elements() == size() ? Shape{size()} : given;
  const Tensor settled = weights.to_host().to(DType::f32).reshaped(shape);
  const std::span<const float> values = settled.as<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    require<DataError>(std::isfinite(values[i]) && values[i] >= 0,
                       "the weight {} of '{}' is {}; expected finite weights of at least 0", i,
                       info().name, values[i]);
  }
  marks_ = std::make_shared<const Marks>(Marks{settled, folds()});
}

const Tensor& Dataset::folds() const {
  static const Tensor none;
  return marks_ != nullptr ? marks_->folds : none;
}

void Dataset::set_folds(const Tensor& folds) {
  if (folds.elements() == 0) {
    marks_ =
        weights().elements() > 0 ? std::make_shared<const Marks>(Marks{weights(), {}}) : nullptr;
    return;
  }
  require<DataError>(folds.shape() == Shape{size()}, "the folds of '{}' are {}; expected ({})",
                     info().name, to_string(folds.shape()), size());
  const Tensor settled = folds.to_host().to(DType::f32);
  const std::span<const float> values = settled.as<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    require<DataError>(values[i] >= -1 && std::isfinite(values[i]) &&
                           values[i] == std::floor(values[i]),
                       "the fold of sample {} of '{}' is {}; expected a whole number from 0 on, or "
                       "-1 for none",
                       i, info().name, values[i]);
  }
  marks_ = std::make_shared<const Marks>(Marks{weights(), settled});
}

const DatasetInfo& Dataset::info() const {
  static const DatasetInfo unknown;
  return info_ != nullptr ? *info_ : unknown;
}

void Dataset::set_info(DatasetInfo info) {
  check_classes(info);
  info_ = std::make_shared<const DatasetInfo>(std::move(info));
}

void Dataset::set_classes(std::vector<std::string> names) {
  DatasetInfo changed = info();
  changed.classes = std::move(names);
  set_info(std::move(changed));
}

void Dataset::check_labels(std::optional<std::int32_t> ignored_label) const {
  const auto count = static_cast<std::int64_t>(classes().size());
  if (count == 0) return;
  if (all_labels_of(*this).empty()) return;
  const Column& target = targets()[0];
  const auto record = static_cast<std::size_t>(target.record().elements());
  for_each_counted<std::int32_t>(target, [&](std::span<const std::int32_t> labels,
                                             std::size_t first) {
    const auto bad = std::ranges::find_if(labels, [&](std::int32_t label) {
      return (label < 0 || label >= count) && label != ignored_label;
    });
    if (bad == labels.end()) return false;
    const std::size_t index = first + static_cast<std::size_t>(bad - labels.begin());
    const std::string element = record == 1 ? "" : fmt::format(", element {}", index % record);
    fail<DataError>("label {} of sample {}{} in '{}' is outside [0, {})", *bad, index / record,
                    element, info().name, count);
  });
}

std::span<const std::int32_t> labels_of(const Dataset& data) {
  const std::span<const std::int32_t> labels = all_labels_of(data);
  return labels.empty() || data.targets()[0].record().rank() > 0 ? std::span<const std::int32_t>()
                                                                 : labels;
}

std::span<const std::int32_t> all_labels_of(const Dataset& data) {
  if (data.targets().empty() || data.targets()[0].dtype() != DType::i32) return {};
  return data.targets()[0].data.as<std::int32_t>();
}

std::span<const float> values_of(const Dataset& data) {
  if (data.targets().empty() || data.targets()[0].dtype() != DType::f32) return {};
  return data.targets()[0].data.as<float>();  // of a source: none
}

Shape value_shape_of(const Dataset& data) {
  if (data.targets().empty() || data.targets()[0].dtype() != DType::f32) return {};
  const Shape record = data.targets()[0].record();
  return record.rank() == 0 ? Shape{1} : record;
}

bool has_class_columns(const Dataset& data) {
  return !values_of(data).empty() && value_shape_of(data) == Shape{std::ssize(data.classes())};
}

bool is_multi_label(const Dataset& data) {
  return has_class_columns(data) &&
         std::ranges::all_of(values_of(data), [](float value) { return value == 0 || value == 1; });
}

std::int64_t classes_of(std::span<const std::int32_t> labels,
                        std::optional<std::int32_t> ignored_label) {
  std::int64_t classes = 0;
  for (const std::int32_t label : labels) {
    if (label != ignored_label) classes = std::max<std::int64_t>(classes, label + std::int64_t{1});
  }
  return classes;
}

std::int64_t classes_of(const Column& labels, std::optional<std::int32_t> ignored_label) {
  std::int64_t classes = 0;
  for_each_counted<std::int32_t>(labels, [&](std::span<const std::int32_t> part, std::size_t) {
    classes = std::max(classes, classes_of(part, ignored_label));
    return false;
  });
  return classes;
}

Dataset with_input(const Dataset& data, std::size_t index, Column column) {
  std::vector<Column> inputs = data.inputs();
  inputs.at(index) = std::move(column);
  Dataset changed(std::move(inputs), data.targets(), data.info());
  changed.set_weights(data.weights());
  changed.set_folds(data.folds());
  return changed;
}

Tensor column_in_memory(const Column& column) {
  if (column.source == nullptr) return column.data;
  Tensor records(column.dtype(), column.record().batched(column.size()));
  for (std::int64_t i = 0; i < column.size(); ++i) {
    column.source->read(i, records.rows(i, i + 1).writable_bytes());
  }
  return records;
}

Dataset with_first_target_read(const Dataset& data) {
  if (data.targets().empty() || data.targets()[0].source == nullptr) return data;
  return with_first_target(data, column_in_memory(data.targets()[0]));
}

Dataset with_first_target(const Dataset& data, Tensor values) {
  std::vector<Column> targets = data.targets();
  targets.at(0).data = std::move(values);
  targets.at(0).source = nullptr;
  Dataset changed(data.inputs(), std::move(targets), data.info());
  changed.set_weights(data.weights());
  changed.set_folds(data.folds());
  return changed;
}

}  // namespace linnet
