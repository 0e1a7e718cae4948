// SPDX-License-Identifier: Apache-2.0
#include "datasets/load_dataset.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/folder.h"
#include "base/memory.h"
#include "data/subsample.h"
#include "datasets/chest_xray.h"
#include "datasets/cifar.h"
#include "datasets/image_folder.h"
#include "datasets/image_table.h"
#include "datasets/mnist.h"
#include "datasets/npy_folder.h"
#include "datasets/open_images.h"
#include "datasets/refuse_folder.h"
#include "datasets/texts.h"
#include "formats/tar.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

struct Format {
  DataKind kind;
  std::string_view name;
  bool (*holds)(const fs::path& folder);
};

/// Folders of images come last: others may lie beside images too.
constexpr std::array<Format, 7> kFormats{{{DataKind::idx, "idx", holds_mnist},
                                          {DataKind::cifar, "cifar", holds_cifar},
                                          {DataKind::npy, "npy", holds_npy},
                                          {DataKind::texts, "texts", holds_labelled_texts},
                                          {DataKind::chest_xray, "chest-xray", holds_chest_xray},
                                          {DataKind::image_table, "image-table", holds_image_table},
                                          {DataKind::images, "images", holds_image_folders}}};

std::optional<DataKind> kind_of(const fs::path& folder) {
  for (const Format& format : kFormats) {
    if (format.kind != DataKind::images && format.holds(folder)) return format.kind;
  }
  return std::nullopt;
}

/// Archives unpack into a folder of their own, e.g. data/cifar-10-batches-bin.
std::optional<FoundData> find_deeper(const fs::path& folder) {
  std::optional<FoundData> found;
  for (const fs::path& inner : list_folder(folder).folders) {
    const std::optional<DataKind> kind = kind_of(inner);
    if (!kind) continue;
    if (found) {
      fail<DataError>("'{}' holds two data sets, '{}' and '{}'; name one of them", folder.string(),
                      found->folder.filename().string(), inner.filename().string());
    }
    found = {*kind, inner};
  }
  return found;
}

}  // namespace

std::string_view to_string(DataKind kind) {
  for (const Format& format : kFormats) {
    if (format.kind == kind) return format.name;
  }
  return "?";
}

FoundData find_dataset(const fs::path& path) {
  require<DataError>(!is_file(path), "'{}' is a file; expected a folder", path.string());
  const Listing listing = list_folder(path);  // says why, where it can't be read
  require<DataError>(!listing.files.empty() || !listing.folders.empty(),
                     "'{}' holds no data set: the folder is empty", path.string());
  if (const std::optional<DataKind> kind = kind_of(path)) return {*kind, path};
  if (std::optional<FoundData> deeper = find_deeper(path)) return *std::move(deeper);
  if (holds_image_folders(path)) return {DataKind::images, path};
  refuse_folder(path);
}

bool is_of_image_files(DataKind kind) {
  return kind == DataKind::images || kind == DataKind::chest_xray || kind == DataKind::image_table;
}

bool holds_image_files(const fs::path& path) {
  const DataKind kind = find_dataset(path).kind;
  return is_of_image_files(kind);
}

bool holds_texts(const fs::path& path) { return find_dataset(path).kind == DataKind::texts; }

bool holds_dataset(const fs::path& folder) {
  return kind_of(folder) || holds_image_folders(folder) ||
         std::ranges::any_of(list_folder(folder).folders,
                             [](const fs::path& inner) { return kind_of(inner).has_value(); });
}

namespace {

Splits load_found(const FoundData& found, const DatasetOptions& options) {
  switch (found.kind) {
    case DataKind::idx: return load_mnist(found.folder);
    case DataKind::cifar:
      return load_cifar(found.folder,
                        {.labels = options.coarse_labels ? CifarLabels::coarse : CifarLabels::fine,
                         .train_samples = options.train_samples,
                         .test = options.test});
    case DataKind::npy: return load_npy_folder(found.folder, options.ignored_label);
    case DataKind::texts:
      return load_texts(found.folder,
                        {.length = options.text_length > 0 ? options.text_length : 150,
                         .words = options.words});
    case DataKind::chest_xray: return open_chest_xray(found.folder, options);
    case DataKind::image_table: return open_image_table(found.folder, options);
    case DataKind::images: return open_image_folders(found.folder, options);
  }
  fail<DataError>("'{}' holds no data set", found.folder.string());
}

}  // namespace

Splits load_dataset(const fs::path& path, const DatasetOptions& options) {
  require(options.size.rank() == 0 ||
              (options.size.rank() == 2 && options.size[0] > 0 && options.size[1] > 0),
          "expected a size of images (height, width), both above 0; got {}",
          to_string(options.size));
  const FoundData found = find_dataset(path);
  const bool images = is_of_image_files(found.kind);
  require(options.size.rank() == 0 || images, "only image files are resized; '{}' holds {} data",
          found.folder.string(), to_string(found.kind));
  require(options.channels == 0 || options.channels == 1 || options.channels == 3,
          "expected 1 channel (grey) or 3 (colour) for images; got {}", options.channels);
  require(options.channels == 0 || images,
          "the channels can only be chosen for image files; '{}' holds {} data",
          found.folder.string(), to_string(found.kind));
  require(!options.coarse_labels || found.kind == DataKind::cifar,
          "only CIFAR-100 has coarse labels; '{}' holds {} data", found.folder.string(),
          to_string(found.kind));
  require(options.targets.empty() || found.kind == DataKind::image_table,
          "the columns to learn can only be named where a table gives images their targets; '{}' "
          "holds {} data",
          found.folder.string(), to_string(found.kind));
  require(options.train_samples >= 0, "expected a number of training samples; got {}",
          options.train_samples);
  Splits parts = in_memory(fmt::format("the data set '{}'", found.folder.string()),
                           [&] { return load_found(found, options); });
  subsample(parts.train, options.train_samples);
  if (!options.test) parts.test = {};
  return parts;
}

}  // namespace linnet
