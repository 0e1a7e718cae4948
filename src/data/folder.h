// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// The entries of a folder that don't begin with a dot, sorted by name.
struct Listing {
  std::vector<std::filesystem::path> folders;  ///< full paths
  std::vector<std::filesystem::path> files;    ///< full paths, everything that is no folder
};

/// Throws Error: "cannot read 'x': No such file or directory".
Listing list_folder(const std::filesystem::path& folder);

/// Whether something is there that is no folder; false where it can't be seen.
bool is_file(const std::filesystem::path& path);

/// The last name of a path, also of "a/b/" and ".": what a data set is called.
std::string folder_name(const std::filesystem::path& folder);

/// One name a line, spaces at both ends and empty lines dropped. Throws Error where the file can't
/// be read.
std::vector<std::string> read_names(const std::filesystem::path& path);

/// "0", "1", ... for classes that have no names.
std::vector<std::string> numbered_names(std::int64_t classes);

}  // namespace linnet
