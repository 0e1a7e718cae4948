// SPDX-License-Identifier: Apache-2.0
#include "base/user_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/console.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

/// Returns a folder of this user alone below the temporary folder, where any user could have made
/// one of its name before; empty where there is none.
fs::path private_temporary_folder() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  if (error) return {};
  const fs::path folder = base / fmt::format("linnet-{}", ::geteuid());
  const bool made = ::mkdir(folder.c_str(), 0700) == 0;
  struct stat status {};
  const bool there = (made || errno == EEXIST) && ::lstat(folder.c_str(), &status) == 0;
  const bool ours = there && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
                    (status.st_mode & 077) == 0;
  return ours ? folder : fs::path();
}

}  // namespace

fs::path user_cache() {
  const char* cache = environment("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return fs::path(cache) / "linnet";
  const char* home = environment("HOME");
  if (home == nullptr || *home == '\0') return private_temporary_folder();
  return fs::path(home) / ".cache" / "linnet";
}

}  // namespace linnet
