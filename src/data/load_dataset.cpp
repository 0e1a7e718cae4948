// SPDX-License-Identifier: Apache-2.0
#include <linnet/dataset.h>

#include <optional>

#include "base/check.h"
#include "data/cifar.h"
#include "data/folder.h"
#include "data/image_folder.h"
#include "data/mnist.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

std::optional<DatasetPair> load_arrays(const fs::path& folder) {
  if (holds_mnist(folder)) return load_mnist(folder);
  if (holds_cifar(folder)) return load_cifar(folder);
  return std::nullopt;
}

bool holds_arrays(const fs::path& folder) { return holds_mnist(folder) || holds_cifar(folder); }

/// Archives unpack into a folder of their own, e.g. data/cifar-10-batches-bin.
std::optional<fs::path> only_folder_with_arrays(const fs::path& folder) {
  std::optional<fs::path> found;
  for (const fs::path& inner : list_folder(folder).folders) {
    if (!holds_arrays(inner)) continue;
    require(!found, "'{}' holds two data sets, '{}' and '{}'; name one of them", folder.string(),
            found->filename().string(), inner.filename().string());
    found = inner;
  }
  return found;
}

}  // namespace

DatasetPair load_dataset(const fs::path& path) {
  require(!is_file(path), "'{}' is a file; a data set is a folder", path.string());
  list_folder(path);  // says why, where it can't be read
  if (std::optional<DatasetPair> pair = load_arrays(path)) return *std::move(pair);
  if (const std::optional<fs::path> inner = only_folder_with_arrays(path)) {
    return *load_arrays(*inner);
  }
  if (holds_image_folders(path)) return load_image_folders(path);
  fail(
      "'{}' holds no data set; looked for IDX files (train-images-idx3-ubyte, also .gz), CIFAR "
      "batches (data_batch_*.bin or train.bin) and folders of images by class (class/*.png, *.jpg, "
      "*.jpeg, *.bmp, also under train/ and test/ or val/)",
      path.string());
}

}  // namespace linnet
