// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>

#include "base/anchored_file.h"
#include "base/check.h"

namespace linnet {

// Links are looked for before the file is opened: Windows lets only administrators and developers
// make them.
OpenFile open_below(const std::filesystem::path& folder, const std::filesystem::path& location,
                    std::string_view name) {
  std::filesystem::path at = folder.empty() ? "." : folder;
  std::error_code error;
  require<DataError>(std::filesystem::is_directory(at, error),
                     "the folder '{}' of the model cannot be opened: {}", at.string(),
                     error ? error.message() : "it is not a folder");
  for (const auto& part : location) {
    require<DataError>(
        std::filesystem::is_directory(at, error) && !std::filesystem::is_symlink(at, error),
        "the tensor '{}' is in '{}', whose path has a symbolic link or a missing folder", name,
        location.string());
    at /= part;
  }
  OpenFile file(calls::open(at, O_RDONLY | calls::kNoLink));
  const int reason = errno;
  require<DataError>(
      file.number() >= 0 || reason != ELOOP,
      "the tensor '{}' is in '{}', whose path has a symbolic link or a missing folder", name,
      location.string());
  require<DataError>(file.number() >= 0, "the tensor '{}' is in '{}', which cannot be opened: {}",
                     name, location.string(), std::strerror(reason));
  return file;
}

}  // namespace linnet
