// SPDX-License-Identifier: Apache-2.0
#include "datasets/mnist.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/folder.h"
#include "data/targets.h"
#include "formats/idx.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

/// Returns the file in the folder under one of the names in use: a dot or a dash, packed or not.
std::optional<fs::path> find_file(const fs::path& folder, std::string_view part,
                                  std::string_view kind) {
  for (const char mark : {'-', '.'}) {
    for (const std::string_view end : {"", ".gz"}) {
      fs::path path = folder / fmt::format("{}{}{}-ubyte{}", part, mark, kind, end);
      if (is_file(path)) return path;
    }
  }
  return std::nullopt;
}

fs::path require_file(const fs::path& folder, std::string_view part, std::string_view kind) {
  const std::optional<fs::path> path = find_file(folder, part, kind);
  require<DataError>(path.has_value(),
                     "'{}' has no {}-{}-ubyte (or .gz) beside its other IDX files", folder.string(),
                     part, kind);
  return *path;
}

/// Returns one part, without the names of its classes.
Dataset load_part(const fs::path& folder, std::string_view part) {
  const fs::path image_path = require_file(folder, fmt::format("{}-images", part), "idx3");
  const fs::path label_path = require_file(folder, fmt::format("{}-labels", part), "idx1");
  IdxArray images = read_idx(image_path, 3);
  IdxArray labels = read_idx(label_path, 1);
  require<DataError>(images.dims[0] == labels.dims[0], "'{}' has {} images but '{}' has {} labels",
                     image_path.string(), images.dims[0], label_path.string(), labels.dims[0]);
  require<DataError>(images.dims[1] > 0 && images.dims[2] > 0,
                     "the images of '{}' are {} x {} pixels; expected at least one",
                     image_path.string(), images.dims[1], images.dims[2]);
  const Shape shape{images.dims[0], images.dims[1], images.dims[2], 1};
  return {{{"image", Tensor(std::move(images.bytes), shape)}},
          {{"label", Tensor(std::move(labels.bytes))}},
          {.name = folder_name(folder), .samples_file = image_path, .targets_file = label_path}};
}

}  // namespace

bool holds_mnist(const fs::path& folder) {
  for (const std::string_view part : {"train", "t10k"}) {
    if (find_file(folder, fmt::format("{}-images", part), "idx3")) return true;
    if (find_file(folder, fmt::format("{}-labels", part), "idx1")) return true;
  }
  return false;
}

Splits load_mnist(const fs::path& folder) {
  Splits splits{.train = load_part(folder, "train"), .test = load_part(folder, "t10k")};
  const Shape image = splits.train.inputs()[0].record();
  const Shape test_image = splits.test.inputs()[0].record();
  require<DataError>(image == test_image,
                     "the images of '{}' are {} for training but {} for testing", folder.string(),
                     to_string(image), to_string(test_image));
  const std::int64_t classes =
      std::max(classes_of(labels_of(splits.train)), classes_of(labels_of(splits.test)));
  std::vector<std::string> names = numbered_names(classes);
  if (const fs::path list = folder / "classes.txt"; is_file(list)) {
    names = read_class_names(list);
    require<DataError>(static_cast<std::int64_t>(names.size()) >= classes,
                       "'{}' names {} classes, but its labels go up to {}", list.string(),
                       names.size(), classes - 1);
  }
  splits.train.set_classes(names);
  splits.test.set_classes(std::move(names));
  return splits;
}

}  // namespace linnet
