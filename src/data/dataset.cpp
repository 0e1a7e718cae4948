// SPDX-License-Identifier: Apache-2.0
#include <linnet/dataset.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"

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

Dataset with_labels(Shape sample_shape, DType dtype, std::span<const std::int32_t> labels) {
  Dataset data;
  data.name = "array";
  data.sample_shape = std::move(sample_shape);
  data.sample_dtype = dtype;
  data.labels.assign(labels.begin(), labels.end());
  std::int32_t largest = -1;
  for (std::size_t i = 0; i < labels.size(); ++i) {
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

}  // namespace

std::int64_t Dataset::size() const {
  const auto stored =
      static_cast<std::int64_t>(sample_dtype == DType::u8 ? bytes.size() : floats.size());
  const std::int64_t elements = sample_shape.elements();
  return elements > 0 ? stored / elements : 0;
}

void Dataset::validate() const {
  require(sample_dtype == DType::u8 || sample_dtype == DType::f32,
          "the samples of '{}' must be u8 or f32; got {}", name, to_string(sample_dtype));
  const bool is_u8 = sample_dtype == DType::u8;
  require((is_u8 ? floats.size() : bytes.size()) == 0,
          "the samples of '{}' are {}, but it also holds {} samples", name, to_string(sample_dtype),
          is_u8 ? "f32" : "u8");
  const std::int64_t elements = record_elements(sample_shape, "sample", name);
  const auto stored = static_cast<std::int64_t>(is_u8 ? bytes.size() : floats.size());
  require(stored % elements == 0,
          "'{}' holds {} sample elements, which is no multiple of the {} of a sample {}", name,
          stored, elements, to_string(sample_shape));
  const std::int64_t count = stored / elements;
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
    require(labels[i] >= 0 && labels[i] < classes(),
            "label {} of sample {} in '{}' is outside [0, {})", labels[i], i, name, classes());
  }
}

Dataset make_dataset(Shape sample_shape, std::span<const std::uint8_t> samples,
                     std::span<const std::int32_t> labels) {
  Dataset data = with_labels(std::move(sample_shape), DType::u8, labels);
  data.bytes.assign(samples.begin(), samples.end());
  data.validate();
  return data;
}

Dataset make_dataset(Shape sample_shape, std::span<const float> samples,
                     std::span<const std::int32_t> labels) {
  Dataset data = with_labels(std::move(sample_shape), DType::f32, labels);
  data.floats.assign(samples.begin(), samples.end());
  data.validate();
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
