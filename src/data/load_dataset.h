// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace linnet {

/// What load_dataset() knows, in the order in which it looks.
enum class DataKind : std::uint8_t { idx, cifar, npy, imdb, chest_xray, images };

/// "idx", "cifar", "npy", "imdb", "chest-xray", "images"
std::string_view to_string(DataKind kind);

struct FoundData {
  DataKind kind = DataKind::idx;
  std::filesystem::path folder;  ///< the path itself, or the one folder in it that holds the data
};

/// Looks at names alone. Throws Error where nothing, or more than one data set, is to be seen.
FoundData find_dataset(const std::filesystem::path& path);

struct LoadOptions {
  std::int64_t image_size = 0;  ///< image files become (size, size), see resize_image(); 0: as is
  std::uint64_t seed = 0;       ///< of a split by patient
  bool coarse_labels = false;   ///< of CIFAR-100
};

/// As load_dataset(path). Of chest X-rays the validation part is left out: load_chest_xray() has
/// it. Throws Error also where an option has no meaning for what lies there.
DatasetPair load_dataset(const std::filesystem::path& path, const LoadOptions& options);

}  // namespace linnet
