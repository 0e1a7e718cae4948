// SPDX-License-Identifier: Apache-2.0
#include <linnet/dataset.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"

namespace linnet {
namespace {

constexpr std::int32_t kMostClasses = 1 << 20;

/// The elements of one record; every extent must be positive (no extent: a scalar).
std::int64_t record_elements(const Shape& shape, std::string_view what, std::string_view name) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape.dims()) {
    require(extent > 0, "the {} shape of '{}' must have positive extents; got {}", what, name,
            to_string(shape));
    require(extent <= std::numeric_limits<std::int64_t>::max() / elements,
            "the {} shape {} of '{}' has more elements than memory can hold", what,
            to_string(shape), name);
    elements *= extent;
  }
  return elements;
}

Dataset with_labels(Shape sample_shape, DType dtype, std::span<const std::int32_t> labels,
                    std::optional<std::int32_t> ignored) {
  Dataset data;
  data.name = "array";
  data.sample_shape = std::move(sample_shape);
  data.sample_dtype = dtype;
  data.labels.assign(labels.begin(), labels.end());
  std::int32_t largest = -1;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == ignored) continue;
    require(labels[i] >= 0, "label {} of sample {} in '{}' is negative", labels[i], i, data.name);
    // Class names are made up to the largest label, so a stray one would cost gigabytes.
    require(labels[i] < kMostClasses,
            "label {} of sample {} in '{}' is too large; labels are class indices below {}",
            labels[i], i, data.name, kMostClasses);
    largest = std::max(largest, labels[i]);
  }
  for (std::int32_t c = 0; c <= largest; ++c) data.class_names.push_back(std::to_string(c));
  return data;
}

bool is_sample_type(DType dtype) {
  return dtype == DType::u8 || dtype == DType::f32 || dtype == DType::i32;
}

/// In elements.
std::int64_t stored_samples(const Dataset& data) {
  return static_cast<std::int64_t>(data.sample_dtype == DType::u8    ? data.bytes.size()
                                   : data.sample_dtype == DType::i32 ? data.ids.size()
                                                                     : data.floats.size());
}

void check_column(const Column& column, std::int64_t count, std::string_view name) {
  require(!column.name.empty(), "a further input or target of '{}' has no name", name);
  require(is_sample_type(column.dtype), "'{}' of '{}' must be u8, f32 or i32; got {}", column.name,
          name, to_string(column.dtype));
  const auto record = static_cast<std::size_t>(record_elements(column.shape, column.name, name));
  const std::size_t wanted = static_cast<std::size_t>(count) * record * size_of(column.dtype);
  require(column.data().size() == wanted,
          "'{}' of '{}' holds {} bytes; expected {} for {} records of {} {}", column.name, name,
          column.data().size(), wanted, count, to_string(column.dtype), to_string(column.shape));
}

}  // namespace

std::span<const std::byte> Column::data() const {
  if (dtype == DType::u8) return std::as_bytes(std::span(bytes));
  if (dtype == DType::i32) return std::as_bytes(std::span(ids));
  return std::as_bytes(std::span(floats));
}

std::int64_t Dataset::size() const {
  if (source != nullptr) return source->size();
  const std::int64_t elements = sample_shape.elements();
  return elements > 0 ? stored_samples(*this) / elements : 0;
}

std::int64_t Dataset::validate_inputs() const {
  require(is_sample_type(sample_dtype), "the samples of '{}' must be u8, f32 or i32; got {}", name,
          to_string(sample_dtype));
  auto stored = stored_samples(*this);
  require(source == nullptr || (bytes.empty() && floats.empty() && ids.empty()),
          "'{}' has its samples both in memory and in a source", name);
  for (const auto& [dtype, elements] :
       {std::pair(DType::u8, bytes.size()), std::pair(DType::f32, floats.size()),
        std::pair(DType::i32, ids.size())}) {
    require(dtype == sample_dtype || elements == 0,
            "the samples of '{}' are {}, but it also holds {} samples", name,
            to_string(sample_dtype), to_string(dtype));
  }
  const std::int64_t elements = record_elements(sample_shape, "sample", name);
  if (source != nullptr) stored = source->size() * elements;
  require(stored % elements == 0,
          "'{}' holds {} sample elements, which is no multiple of the {} of a sample {}", name,
          stored, elements, to_string(sample_shape));
  const std::int64_t count = stored / elements;
  for (const Column& column : more_inputs) check_column(column, count, name);
  return count;
}

void Dataset::validate(std::optional<std::int32_t> ignored_label) const {
  const std::int64_t count = validate_inputs();
  for (std::size_t c = 0; c < class_names.size(); ++c) {
    require(is_utf8(class_names[c]),
            "the name '{}' of class {} in '{}' is not UTF-8, which a saved model could not hold",
            escaped(class_names[c]), c, name);
  }
  require(labels.empty() || values.empty(), "'{}' has both labels and values; expected one of them",
          name);
  require(count == 0 || !labels.empty() || !values.empty(),
          "'{}' holds {} samples but neither labels nor values", name, count);

  if (!values.empty()) {
    const std::int64_t width = record_elements(value_shape, "value", name);
    require(static_cast<std::int64_t>(values.size()) == count * width,
            "'{}' holds {} samples and {} values; expected {} of shape {} for each", name, count,
            values.size(), width, to_string(value_shape));
  }
  require(labels.empty() || static_cast<std::int64_t>(labels.size()) == count,
          "'{}' holds {} samples and {} labels; expected one label a sample", name, count,
          labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    require((labels[i] >= 0 && labels[i] < classes()) || labels[i] == ignored_label,
            "label {} of sample {} in '{}' is outside [0, {})", labels[i], i, name, classes());
  }
  for (const Column& column : more_targets) {
    check_column(column, count, name);
    require(column.dtype == DType::f32 || (column.dtype == DType::i32 && column.shape.rank() == 0),
            "the target '{}' of '{}' must be f32, or i32 labels of shape (); got {} {}",
            column.name, name, to_string(column.dtype), to_string(column.shape));
  }
}

Dataset make_dataset(Shape sample_shape, std::span<const std::uint8_t> samples,
                     std::span<const std::int32_t> labels,
                     std::optional<std::int32_t> ignored_label) {
  Dataset data = with_labels(std::move(sample_shape), DType::u8, labels, ignored_label);
  data.bytes.assign(samples.begin(), samples.end());
  data.validate(ignored_label);
  return data;
}

Dataset make_dataset(Shape sample_shape, std::span<const float> samples,
                     std::span<const std::int32_t> labels,
                     std::optional<std::int32_t> ignored_label) {
  Dataset data = with_labels(std::move(sample_shape), DType::f32, labels, ignored_label);
  data.floats.assign(samples.begin(), samples.end());
  data.validate(ignored_label);
  return data;
}

Dataset make_dataset(Shape sample_shape, std::span<const std::int32_t> samples,
                     std::span<const std::int32_t> labels,
                     std::optional<std::int32_t> ignored_label) {
  Dataset data = with_labels(std::move(sample_shape), DType::i32, labels, ignored_label);
  data.ids.assign(samples.begin(), samples.end());
  data.validate(ignored_label);
  return data;
}

Dataset make_dataset(Shape sample_shape, std::span<const float> samples, Shape value_shape,
                     std::span<const float> values) {
  Dataset data;
  data.name = "array";
  data.sample_shape = std::move(sample_shape);
  data.sample_dtype = DType::f32;
  data.floats.assign(samples.begin(), samples.end());
  data.value_shape = std::move(value_shape);
  data.values.assign(values.begin(), values.end());
  data.validate();
  return data;
}

}  // namespace linnet
