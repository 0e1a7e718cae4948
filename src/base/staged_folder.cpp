// SPDX-License-Identifier: Apache-2.0
#include "base/staged_folder.h"

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/file_calls.h"
#include "base/process.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

bool is_free(const fs::path& target) {
  std::error_code error;
  if (fs::symlink_status(target, error).type() == fs::file_type::not_found) return true;
  return fs::is_directory(target, error) && fs::is_empty(target, error) && !error;
}

/// "a/b/" names the same folder as "a/b".
fs::path without_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

StagedFolder::StagedFolder(fs::path target) : target_(without_slash(target)) {
  require(!target_.empty() && is_free(target_), "'{}' exists; name a new folder", target.string());
  const fs::path parent = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  std::error_code error;
  fs::create_directories(parent, error);
  require(!error, "cannot write '{}': {}", target_.string(), error.message());
  for (int attempt = 0; path_.empty(); ++attempt) {
    const fs::path candidate = parent / fmt::format(".linnet-{}-{}.tmp", process_id(), attempt);
    const bool made = fs::create_directory(candidate, error);
    require(!error, "cannot write '{}': {}", target_.string(), error.message());
    if (made) path_ = candidate;
  }
}

StagedFolder::~StagedFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

fs::path StagedFolder::make_folder(const fs::path& relative) const {
  std::error_code error;
  fs::create_directories(path_ / relative, error);
  require(!error, "cannot write '{}': {}", (target_ / relative).string(), error.message());
  return path_ / relative;
}

void StagedFolder::write(const fs::path& relative, std::string_view content) const {
  // Not brought to the disk one by one: a hundred thousand images would take hours.
  std::FILE* file = calls::write_stream(path_ / relative);
  bool good = file != nullptr;
  good = good && std::fwrite(content.data(), 1, content.size(), file) == content.size();
  int error = good ? 0 : errno;
  if (file != nullptr && std::fclose(file) != 0 && good) error = errno;
  require(error == 0, "cannot write '{}': {}", (target_ / relative).string(),
          std::generic_category().message(error));
}

void StagedFolder::commit() {
  // rename() takes the place of an empty folder, and of nothing else.
  const bool moved = calls::rename(path_, target_) == 0;
  require(moved, "cannot write '{}': {}", target_.string(), std::generic_category().message(errno));
  path_.clear();
}

}  // namespace linnet
