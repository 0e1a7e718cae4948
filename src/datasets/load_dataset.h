// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace linnet {

/// Says what load_dataset() knows, in the order in which it looks.
enum class DataKind : std::uint8_t { idx, cifar, npy, texts, chest_xray, image_table, images };

/// Returns the kind's name, e.g. "idx" or "texts".
std::string_view to_string(DataKind kind);

struct FoundData {
  DataKind kind = DataKind::idx;
  std::filesystem::path folder;  ///< the path itself, or the one folder in it that holds the data
};

/// Looks at names alone. Throws Error where nothing, or more than one data set, is to be seen.
FoundData find_dataset(const std::filesystem::path& path);

/// Returns whether the samples of such data are image files.
bool is_of_image_files(DataKind kind);

/// Returns whether the data set is of image files, or of texts. Throws as find_dataset() does.
bool holds_image_files(const std::filesystem::path& path);
bool holds_texts(const std::filesystem::path& path);

/// Returns whether a folder, or a folder in it, holds a data set. Throws DataError where it can't
/// be read.
bool holds_dataset(const std::filesystem::path& folder);

}  // namespace linnet
