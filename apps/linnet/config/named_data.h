// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace linnet::command {

/// What is fetched or measured once is kept here: $XDG_CACHE_HOME/linnet or ~/.cache/linnet, and
/// without a home .cache/linnet of the temporary folder. "" where there is none of these either.
std::filesystem::path cache_folder();

/// The names that --data takes beside a path.
const std::vector<std::string>& data_names();

struct LoadedData {
  Splits splits;
  std::string note;  ///< a sentence for the user, if something else was taken than asked for
};

/// The folder that a name or a path stands for; none for data that is drawn or fetched. Throws
/// Error where a name's folder is not in the cache folder.
std::optional<std::filesystem::path> data_folder(const std::string& name);

/// Whether a name or a path stands for image files, or for texts; false for what can't be found.
bool holds_image_files(const std::string& name);
bool holds_texts(const std::string& name);

/// Throws Error for a name that is neither a path nor a known data set. Where Fashion-MNIST cannot
/// be had, drawn digits take its place and the note says so.
LoadedData load_data(const std::string& name, const DatasetOptions& options);
LoadedData load_data(const std::string& name, std::uint64_t seed);

}  // namespace linnet::command
