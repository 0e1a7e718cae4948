// SPDX-License-Identifier: Apache-2.0
#include "datasets/npy_folder.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/folder.h"
#include "data/targets.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

Tensor read_records(const fs::path& path) {
  Tensor array = read_npy(path);
  require<DataError>(array.shape().rank() > 0,
                     "'{}' holds a single number; expected an array of records", path.string());
  return array;
}

Tensor converted(const fs::path& path, const Tensor& array, DType dtype) {
  try {
    return array.to(dtype);
  } catch (const Error& error) {
    fail_again<DataError>(error, "cannot read '{}': {}", path.string(), error.what());
  }
}

Tensor samples_of(const fs::path& path, const Tensor& array) {
  const Shape& shape = array.shape();
  require<DataError>(shape.rank() > 1,
                     "'{}' has the shape {}; expected samples (N, ...) of at least one dimension",
                     path.string(), to_string(shape));
  require<DataError>(shape.sample().elements() > 0, "the samples of '{}' are empty: {}",
                     path.string(), to_string(shape.sample()));
  if (array.dtype() == DType::i64) return converted(path, array, DType::i32);
  if (array.dtype() != DType::u8 || shape.rank() != 3) return array;
  return array.reshaped({shape[0], shape[1], shape[2], 1});  // grey images
}

bool is_whole(DType dtype) {
  return dtype == DType::u8 || dtype == DType::i32 || dtype == DType::i64 ||
         dtype == DType::boolean;
}

Column target_of(const fs::path& path, const Tensor& array, std::optional<std::int32_t> ignored) {
  const Shape record = array.shape().sample();
  if (!is_whole(array.dtype()) || record.elements() != 1 || record.rank() > 1) {
    require<DataError>(record.elements() > 0, "the targets of '{}' are empty: {}", path.string(),
                       to_string(record));
    const Shape values = record.rank() == 0 ? Shape{array.shape()[0], 1} : array.shape();
    return {.name = "value", .data = array.to(DType::f32).reshaped(values)};
  }
  Tensor labels = converted(path, array, DType::i32);
  const std::span<const std::int32_t> elements = labels.as<std::int32_t>();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if ((elements[i] >= 0 && elements[i] < kMostLabels) || elements[i] == ignored) continue;
    fail<DataError>(
        "label {} of record {} in '{}' is outside [0, {}); whole numbers are class indices; save "
        "values as float32",
        elements[i], i, path.string(), kMostLabels);
  }
  return {.name = "label", .data = std::move(labels)};
}

Dataset load_part(const fs::path& folder, std::string_view part,
                  std::optional<std::int32_t> ignored) {
  const fs::path x_path = folder / fmt::format("x_{}.npy", part);
  const fs::path y_path = folder / fmt::format("y_{}.npy", part);
  const Tensor x = read_records(x_path);
  const Tensor y = read_records(y_path);
  require<DataError>(x.shape()[0] == y.shape()[0],
                     "'{}' holds {} samples but '{}' holds {} targets", x_path.string(),
                     x.shape()[0], y_path.string(), y.shape()[0]);
  return {{{"x", samples_of(x_path, x)}},
          {target_of(y_path, y, ignored)},
          {.name = folder_name(folder), .samples_file = x_path, .targets_file = y_path}};
}

void name_classes(const fs::path& folder, std::optional<std::int32_t> ignored, Splits& splits) {
  const std::int64_t classes = std::max(classes_of(labels_of(splits.train), ignored),
                                        classes_of(labels_of(splits.test), ignored));
  std::vector<std::string> names = numbered_names(classes);
  if (const fs::path list = folder / "classes.txt"; is_file(list)) {
    names = read_class_names(list);
    const Shape values = value_shape_of(splits.train);
    const std::int64_t wanted = values.rank() == 1 ? values[0] : classes;
    require<DataError>(static_cast<std::int64_t>(names.size()) >= wanted,
                       "'{}' names {} classes, but its targets have {}", list.string(),
                       names.size(), wanted);
  }
  splits.train.set_classes(names);
  splits.test.set_classes(std::move(names));
}

std::string described(const Column& column) {
  return fmt::format("{} {}", to_string(column.record()), to_string(column.dtype()));
}

}  // namespace

bool holds_npy(const fs::path& folder) {
  constexpr std::array<std::string_view, 4> kNames{"x_train.npy", "y_train.npy", "x_test.npy",
                                                   "y_test.npy"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view name) { return is_file(folder / name); });
}

Splits load_npy_folder(const fs::path& folder, std::optional<std::int32_t> ignored_label) {
  Splits splits{.train = load_part(folder, "train", ignored_label)};
  if (is_file(folder / "x_test.npy") || is_file(folder / "y_test.npy")) {
    splits.test = load_part(folder, "test", ignored_label);
    const std::string train_samples = described(splits.train.inputs()[0]);
    const std::string test_samples = described(splits.test.inputs()[0]);
    require<DataError>(train_samples == test_samples,
                       "the samples of '{}' are {} for training but {} for testing",
                       folder.string(), train_samples, test_samples);
    const Column& train_target = splits.train.targets()[0];
    const Column& test_target = splits.test.targets()[0];
    require<DataError>(train_target.name == test_target.name,
                       "the targets of '{}' are {}s for training but {}s for testing",
                       folder.string(), train_target.name, test_target.name);
    require<DataError>(train_target.record() == test_target.record(),
                       "the values of '{}' are {} for training but {} for testing", folder.string(),
                       to_string(train_target.record()), to_string(test_target.record()));
  } else {
    splits.test = splits.train.take({});
  }
  name_classes(folder, ignored_label, splits);
  return splits;
}

}  // namespace linnet
