// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// The entries of a folder that don't begin with a dot, sorted by name, but for __MACOSX, which
/// macOS adds to archives.
struct Listing {
  std::vector<std::filesystem::path> folders;  ///< full paths
  std::vector<std::filesystem::path> files;    ///< full paths, everything that is not a folder
};

/// Throws Error: "cannot read 'x': No such file or directory".
Listing list_folder(const std::filesystem::path& folder);

/// Returns every file below a folder, in folders of it too, sorted by path, but hidden ones. Links
/// to folders are left out; a dangling link is a file, so that reading it says what is wrong.
/// Throws Error as list_folder().
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

/// Returns whether a folder is there, or something else. Throws Error where nothing is, or where it
/// can't be seen: "cannot read 'x': Too many levels of symbolic links".
bool is_folder(const std::filesystem::path& path);

/// Returns whether something is there that is not a folder; false where it can't be seen.
bool is_file(const std::filesystem::path& path);

/// Returns the last name of a path, also of "a/b/" and ".": what a data set is called.
std::string folder_name(const std::filesystem::path& folder);

/// Returns one name a line, spaces at both ends and empty lines dropped. Throws Error where the
/// file can't be read.
std::vector<std::string> read_names(const std::filesystem::path& path);

/// Does the same for a list of classes. Throws Error naming the line of a name that is not UTF-8,
/// which a model file could not hold, or that stood there before.
std::vector<std::string> read_class_names(const std::filesystem::path& path);

/// Returns "0", "1", ... for classes that have no names.
std::vector<std::string> numbered_names(std::int64_t classes);

}  // namespace linnet
