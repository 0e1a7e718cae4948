// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <filesystem>
#include <string>
#include <vector>

namespace linnet {

/// Returns the images that index_image_folders() finds, (height, width, channels) u8 with labels:
/// decoded into memory or, streamed, when they are asked for. Which images are which part, their
/// shape and errors are as load_dataset() says.
Splits open_image_folders(const std::filesystem::path& folder, const DatasetOptions& options);

/// Returns the images that index_chest_xray() finds, (height, width, 3) u8 with values (labels) f32
/// of 0 and 1, in three parts.
Splits open_chest_xray(const std::filesystem::path& folder, const DatasetOptions& options);

/// Returns the images that read_image_table() finds, with labels or values f32 (columns).
Splits open_image_table(const std::filesystem::path& folder, const DatasetOptions& options);

/// Returns the image files of the data set in a folder, those of the training set first; none where
/// it is not of image files. `targets` as DatasetOptions has them. Throws as find_dataset() does.
std::vector<std::filesystem::path> image_files_in(const std::filesystem::path& folder,
                                                  const std::vector<std::string>& targets);

/// Returns a sentence on the files that were left out, or none.
std::vector<std::string> bad_files_notes(const Splits& splits);

}  // namespace linnet
