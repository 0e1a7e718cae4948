// SPDX-License-Identifier: Apache-2.0
#include "base/anchored_file.h"

#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/check.h"

namespace linnet {

// Component by component, so that nothing that happens meanwhile leads out either.
OpenFile open_below(const std::filesystem::path& folder, const std::filesystem::path& location,
                    std::string_view name) {
  const std::filesystem::path start = folder.empty() ? "." : folder;
  OpenFile at(::open(start.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  require<DataError>(at.number() >= 0, "the folder '{}' of the model cannot be opened: {}",
                     start.string(), std::strerror(errno));
  for (auto part = location.begin(); part != location.end(); ++part) {
    const bool last = std::next(part) == location.end();
    const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (last ? 0 : O_DIRECTORY);
    OpenFile next(::openat(at.number(), part->c_str(), flags));
    const int error = errno;
    require<DataError>(
        next.number() >= 0 || (error != ELOOP && error != ENOTDIR),
        "the tensor '{}' is in '{}', whose path has a symbolic link or a missing folder", name,
        location.string());
    require<DataError>(next.number() >= 0, "the tensor '{}' is in '{}', which cannot be opened: {}",
                       name, location.string(), std::strerror(error));
    at = std::move(next);
  }
  return at;
}

}  // namespace linnet
