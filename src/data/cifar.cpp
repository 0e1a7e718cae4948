// SPDX-License-Identifier: Apache-2.0
#include "data/cifar.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "data/folder.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPlane = 32 * 32;
constexpr std::size_t kPixels = 3 * kPlane;

/// What tells the two versions apart.
struct Version {
  std::string_view name;
  std::size_t label_bytes;
  std::size_t label;  // which of these bytes is the class
  std::int64_t classes;
  std::string_view test_file;
  std::string_view names_file;
};
constexpr Version kCifar10{"CIFAR-10", 1, 0, 10, "test_batch.bin", "batches.meta.txt"};
constexpr Version kCifar100{"CIFAR-100", 2, 1, 100, "test.bin", "fine_label_names.txt"};
constexpr Version kCifar100Coarse{"CIFAR-100", 2, 0, 20, "test.bin", "coarse_label_names.txt"};

/// The training files of CIFAR-10 that are there; none for another folder.
std::vector<fs::path> train_batches(const fs::path& folder) {
  std::vector<fs::path> batches;
  for (const fs::path& path : list_folder(folder).files) {
    const std::string name = path.filename().string();
    if (name.starts_with("data_batch_") && name.ends_with(".bin")) batches.push_back(path);
  }
  return batches;
}

void check_size(const fs::path& path, std::size_t bytes, const Version& version) {
  const std::size_t record = version.label_bytes + kPixels;
  require(bytes > 0 && bytes % record == 0,
          "'{}' has {} bytes; expected a multiple of {}, the size of a {} record", path.string(),
          bytes, record, version.name);
}

/// Appends the records of one file: label bytes, then the planes of red, green and blue.
void append_records(const fs::path& path, const Version& version, Dataset& data) {
  const std::string content = read_file(path);
  const std::size_t record = version.label_bytes + kPixels;
  check_size(path, content.size(), version);
  const std::size_t count = content.size() / record;
  std::size_t out = data.bytes.size();
  data.bytes.resize(out + count * kPixels);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(content.data()) + i * record;
    const std::int32_t label = bytes[version.label];
    require(label < version.classes, "label {} of record {} in '{}' is outside [0, {})", label, i,
            path.string(), version.classes);
    data.labels.push_back(label);
    const std::uint8_t* planes = bytes + version.label_bytes;
    for (std::size_t p = 0; p < kPlane; ++p) {
      for (std::size_t c = 0; c < 3; ++c) data.bytes[out++] = planes[c * kPlane + p];
    }
  }
}

std::vector<std::string> class_names(const fs::path& folder, const Version& version) {
  const fs::path path = folder / version.names_file;
  if (is_file(path)) {
    std::vector<std::string> names = read_names(path);
    require(static_cast<std::int64_t>(names.size()) == version.classes,
            "'{}' names {} classes; expected the {} of {}", path.string(), names.size(),
            version.classes, version.name);
    return names;
  }
  if (version.classes == 10) {
    return {"airplane", "automobile", "bird",  "cat",  "deer",
            "dog",      "frog",       "horse", "ship", "truck"};
  }
  return numbered_names(version.classes);
}

}  // namespace

bool holds_cifar(const fs::path& folder) {
  return is_file(folder / kCifar10.test_file) || !train_batches(folder).empty() ||
         (is_file(folder / "train.bin") && is_file(folder / kCifar100.test_file));
}

void check_cifar_batch(const fs::path& path) {
  const std::string name = path.filename().string();
  const bool ten = name.starts_with("data_batch_") || name == kCifar10.test_file;
  check_size(path, read_file(path).size(), ten ? kCifar10 : kCifar100);
}

DatasetPair load_cifar(const fs::path& folder, CifarLabels labels) {
  std::vector<fs::path> train = train_batches(folder);
  const bool ten = !train.empty() || is_file(folder / kCifar10.test_file);
  require(!ten || labels == CifarLabels::fine,
          "'{}' holds CIFAR-10, which has no coarse labels; CIFAR-100 has", folder.string());
  const Version& version = ten                           ? kCifar10
                           : labels == CifarLabels::fine ? kCifar100
                                                         : kCifar100Coarse;
  if (!ten) train = {folder / "train.bin"};
  require(!train.empty(), "'{}' has {} but no data_batch_*.bin", folder.string(),
          version.test_file);
  const fs::path test = folder / version.test_file;
  require(is_file(test), "'{}' has {} but no {}", folder.string(),
          train.front().filename().string(), version.test_file);

  DatasetPair pair;
  for (Dataset* part : {&pair.train, &pair.test}) {
    part->name = ten ? "cifar-10" : "cifar-100";
    part->sample_shape = {32, 32, 3};
    part->class_names = class_names(folder, version);
  }
  for (const fs::path& path : train) append_records(path, version, pair.train);
  append_records(test, version, pair.test);
  return pair;
}

}  // namespace linnet
