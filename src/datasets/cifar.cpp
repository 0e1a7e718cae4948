// SPDX-License-Identifier: Apache-2.0
#include "datasets/cifar.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/folder.h"
#include "data/subsample.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPlane = 32 * 32;
constexpr std::size_t kPixels = 3 * kPlane;

/// Holds what tells the two versions apart.
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

/// Returns the training files of CIFAR-10 that are there; none for another folder.
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
  require<DataError>(bytes > 0 && bytes % record == 0,
                     "'{}' has {} bytes; expected a multiple of {}, the size of a {} record",
                     path.string(), bytes, record, version.name);
}

/// Returns how many records a file has.
std::int64_t records_of(const fs::path& path, const Version& version) {
  const auto bytes = static_cast<std::size_t>(InputFile(path).bytes());
  check_size(path, bytes, version);
  return static_cast<std::int64_t>(bytes / (version.label_bytes + kPixels));
}

struct Samples {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int32_t> labels;
};

/// Appends a record: label bytes, then the planes of red, green and blue.
void append_record(const std::uint8_t* bytes, const Version& version, Samples& data) {
  data.labels.push_back(bytes[version.label]);
  const std::uint8_t* planes = bytes + version.label_bytes;
  for (std::size_t p = 0; p < kPlane; ++p) {
    for (std::size_t c = 0; c < 3; ++c) data.bytes.push_back(planes[c * kPlane + p]);
  }
}

/// Returns the records of files one after the other: all, or `samples` of them, spread evenly. No
/// file is held as a whole.
Samples read_records(const std::vector<fs::path>& files, const Version& version,
                     std::int64_t samples) {
  Samples data;
  std::vector<std::int64_t> counts;
  for (const fs::path& path : files) counts.push_back(records_of(path, version));
  const std::int64_t records = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const std::int64_t kept = samples > 0 ? std::min(samples, records) : records;
  data.bytes.reserve(static_cast<std::size_t>(kept) * kPixels);
  data.labels.reserve(static_cast<std::size_t>(kept));
  std::vector<char> record(version.label_bytes + kPixels);
  std::int64_t first = 0;  // of the file
  for (std::size_t f = 0; f < files.size(); first += counts[f++]) {
    InputFile file(files[f]);
    for (std::int64_t i = 0; i < counts[f]; ++i) {
      require<DataError>(file.read(record) == record.size(),
                         "cannot read '{}': it ends in record {}", files[f].string(), i);
      const std::int32_t label = static_cast<std::uint8_t>(record[version.label]);
      require<DataError>(label < version.classes,
                         "label {} of record {} in '{}' is outside [0, {})", label, i,
                         files[f].string(), version.classes);
      const std::int64_t next = std::ssize(data.labels);
      if (next < kept && kept_record(next, records, kept) == first + i) {
        append_record(reinterpret_cast<const std::uint8_t*>(record.data()), version, data);
      }
    }
  }
  return data;
}

std::vector<std::string> class_names(const fs::path& folder, const Version& version) {
  const fs::path path = folder / version.names_file;
  if (is_file(path)) {
    std::vector<std::string> names = read_class_names(path);
    require<DataError>(static_cast<std::int64_t>(names.size()) == version.classes,
                       "'{}' names {} classes; expected {}, those of {}", path.string(),
                       names.size(), version.classes, version.name);
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
  check_size(path, InputFile(path).bytes(), ten ? kCifar10 : kCifar100);
}

Splits load_cifar(const fs::path& folder, const CifarOptions& options) {
  std::vector<fs::path> train = train_batches(folder);
  const bool ten = !train.empty() || is_file(folder / kCifar10.test_file);
  require(!ten || options.labels == CifarLabels::fine,
          "'{}' holds CIFAR-10, which has no coarse labels; only CIFAR-100 has them",
          folder.string());
  const Version& version = ten                                   ? kCifar10
                           : options.labels == CifarLabels::fine ? kCifar100
                                                                 : kCifar100Coarse;
  if (!ten) train = {folder / "train.bin"};
  require<DataError>(!train.empty(), "'{}' has {} but no data_batch_*.bin", folder.string(),
                     version.test_file);
  const fs::path test = folder / version.test_file;
  require<DataError>(is_file(test), "'{}' has {} but no {}", folder.string(),
                     train.front().filename().string(), version.test_file);

  const DatasetInfo info{.name = ten ? "cifar-10" : "cifar-100",
                         .classes = class_names(folder, version)};
  const auto dataset = [&](Samples samples) -> Dataset {
    const std::int64_t count = std::ssize(samples.labels);
    return {{{"image", Tensor(std::move(samples.bytes), {count, 32, 32, 3})}},
            {{"label", Tensor(std::move(samples.labels))}},
            info};
  };
  return {.train = dataset(read_records(train, version, options.train_samples)),
          .test = dataset(options.test ? read_records({test}, version, 0) : Samples())};
}

}  // namespace linnet
