// SPDX-License-Identifier: Apache-2.0
#include "data/npy_folder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "data/folder.h"
#include "io/npy.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kMostClasses = 1 << 20;  // names are made up to the largest label

template <class T>
std::vector<T> copy_elements(const NpyArray& array) {
  std::vector<T> elements(array.bytes.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), array.bytes.data(), array.bytes.size());
  return elements;
}

template <class To, class From>
std::vector<To> converted(const NpyArray& array) {
  std::vector<To> result;
  result.reserve(array.bytes.size() / sizeof(From));
  for (const From element : copy_elements<From>(array)) {
    result.push_back(static_cast<To>(element));
  }
  return result;
}

std::vector<float> as_floats(const NpyArray& array) {
  switch (array.dtype) {
    case DType::u8: return converted<float, std::uint8_t>(array);
    case DType::i32: return converted<float, std::int32_t>(array);
    case DType::f64: return converted<float, double>(array);
    default: return copy_elements<float>(array);
  }
}

NpyArray read_records(const fs::path& path) {
  NpyArray array = read_npy(path);
  require(array.shape.rank() > 0, "'{}' holds a single number; expected an array of records",
          path.string());
  return array;
}

void set_samples(const fs::path& path, const NpyArray& array, Dataset& data) {
  require(array.shape.rank() > 1,
          "'{}' has the shape {}; expected samples (N, ...) of at least one dimension",
          path.string(), to_string(array.shape));
  data.sample_shape = array.shape.sample();
  require(data.sample_shape.elements() > 0, "the samples of '{}' are empty: {}", path.string(),
          to_string(data.sample_shape));
  if (array.dtype == DType::u8) {
    data.bytes = copy_elements<std::uint8_t>(array);
    if (data.sample_shape.rank() == 2) {
      data.sample_shape = {data.sample_shape[0], data.sample_shape[1], 1};
    }
  } else if (array.dtype == DType::i32) {
    data.sample_dtype = DType::i32;
    data.ids = copy_elements<std::int32_t>(array);
  } else {
    data.sample_dtype = DType::f32;
    data.floats = as_floats(array);
  }
}

void set_targets(const fs::path& path, const NpyArray& array, std::optional<std::int32_t> ignored,
                 Dataset& data) {
  const Shape record = array.shape.sample();
  const bool whole = array.dtype == DType::u8 || array.dtype == DType::i32;
  if (!whole || record.elements() != 1 || record.rank() > 1) {
    data.value_shape = record.rank() == 0 ? Shape{1} : record;
    data.values = as_floats(array);
    return;
  }
  data.labels = array.dtype == DType::i32 ? copy_elements<std::int32_t>(array)
                                          : converted<std::int32_t, std::uint8_t>(array);
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    require((data.labels[i] >= 0 && data.labels[i] < kMostClasses) || data.labels[i] == ignored,
            "label {} of record {} in '{}' is outside [0, {}); whole numbers are class indices, "
            "save values as float32",
            data.labels[i], i, path.string(), kMostClasses);
  }
}

Dataset load_part(const fs::path& folder, std::string_view part,
                  std::optional<std::int32_t> ignored) {
  const fs::path x_path = folder / fmt::format("x_{}.npy", part);
  const fs::path y_path = folder / fmt::format("y_{}.npy", part);
  const NpyArray x = read_records(x_path);
  const NpyArray y = read_records(y_path);
  require(x.shape[0] == y.shape[0], "'{}' holds {} samples but '{}' holds {} targets",
          x_path.string(), x.shape[0], y_path.string(), y.shape[0]);
  Dataset data;
  data.name = folder_name(folder);
  data.samples_file = x_path;
  data.targets_file = y_path;
  set_samples(x_path, x, data);
  set_targets(y_path, y, ignored, data);
  return data;
}

void name_classes(const fs::path& folder, std::optional<std::int32_t> ignored, DatasetPair& pair) {
  std::int64_t classes = 0;
  for (const Dataset* part : {&pair.train, &pair.test}) {
    for (const std::int32_t label : part->labels) {
      if (label != ignored) classes = std::max<std::int64_t>(classes, label + 1);
    }
  }
  std::vector<std::string> names = numbered_names(classes);
  if (const fs::path list = folder / "classes.txt"; is_file(list)) {
    names = read_class_names(list);
    const std::int64_t values = pair.train.value_shape.rank() == 1 ? pair.train.value_shape[0] : 0;
    const std::int64_t wanted = pair.train.values.empty() ? classes : values;
    require(static_cast<std::int64_t>(names.size()) >= wanted,
            "'{}' names {} classes but the targets beside it have {}", list.string(), names.size(),
            wanted);
  }
  pair.train.class_names = names;
  pair.test.class_names = std::move(names);
}

}  // namespace

bool holds_npy(const fs::path& folder) {
  constexpr std::array<std::string_view, 4> kNames{"x_train.npy", "y_train.npy", "x_test.npy",
                                                   "y_test.npy"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view name) { return is_file(folder / name); });
}

DatasetPair load_npy_folder(const fs::path& folder, std::optional<std::int32_t> ignored_label) {
  DatasetPair pair;
  pair.train = load_part(folder, "train", ignored_label);
  if (is_file(folder / "x_test.npy") || is_file(folder / "y_test.npy")) {
    pair.test = load_part(folder, "test", ignored_label);
    require(pair.train.sample_shape == pair.test.sample_shape &&
                pair.train.sample_dtype == pair.test.sample_dtype,
            "the samples of '{}' are {} {} for training but {} {} for testing", folder.string(),
            to_string(pair.train.sample_shape), to_string(pair.train.sample_dtype),
            to_string(pair.test.sample_shape), to_string(pair.test.sample_dtype));
    require(pair.train.value_shape == pair.test.value_shape,
            "the values of '{}' are {} for training but {} for testing", folder.string(),
            to_string(pair.train.value_shape), to_string(pair.test.value_shape));
  } else {
    pair.test.name = pair.train.name;
    pair.test.sample_shape = pair.train.sample_shape;
    pair.test.sample_dtype = pair.train.sample_dtype;
    pair.test.value_shape = pair.train.value_shape;
  }
  name_classes(folder, ignored_label, pair);
  pair.train.validate(ignored_label);
  pair.test.validate(ignored_label);
  return pair;
}

}  // namespace linnet
