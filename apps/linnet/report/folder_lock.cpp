// SPDX-License-Identifier: Apache-2.0
#include "report/folder_lock.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file_calls.h"
#include "base/process.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockFile = ".linnet-lock";
constexpr std::string_view kBegin = ".linnet-";
constexpr std::string_view kEnd = ".tmp";

std::string reason(int error) { return std::generic_category().message(error); }

/// Returns the process that a lock file names, as text; nothing yet where it was just made.
std::string process_in(int descriptor) {
  std::string text(32, '\0');
  const calls::Count size = calls::read_at(descriptor, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text.substr(0, text.find('\n'));
}

/// " by process 1234", or nothing.
std::string owner(int descriptor) {
  const std::string process = process_in(descriptor);
  return process.empty() ? process : " by process " + process;
}

enum class Claim : std::uint8_t { ours, gone, held };

/// Takes the lock of an open lock file. Throws Error for a file of another process where the file
/// system has no locks: that process may live or not.
Claim claim(int descriptor, bool created, const fs::path& file) {
  if (calls::lock(descriptor) == 0) {
    return calls::is_named(descriptor, file) ? Claim::ours : Claim::gone;
  }
  if (errno == EWOULDBLOCK) return Claim::held;
  require(created,
          "'{}' says that the folder is in use{}, and the file system has no locks ({}); delete "
          "the file if that process has ended",
          file.string(), owner(descriptor), reason(errno));
  return Claim::ours;
}

/// Returns an open lock file that is ours, or -1 and the owner where it is another's.
std::pair<int, std::string> open_lock(const fs::path& folder, const fs::path& file) {
  while (true) {
    int descriptor = calls::open(file, O_RDWR | O_CREAT | O_EXCL, 0666);
    const bool created = descriptor >= 0;
    if (!created && errno == EEXIST) {
      descriptor = calls::open(file, O_RDWR | calls::kNoLink);
    }
    const int error = errno;
    std::error_code none;
    const bool gone = error == ENOENT && !fs::is_symlink(file, none);
    if (descriptor < 0 && gone && fs::is_directory(folder, none)) continue;
    require(descriptor >= 0 || !fs::is_symlink(file, none), "'{}' is a link, not a lock; delete it",
            file.string());
    require(descriptor >= 0, "cannot write into the folder '{}': {}", folder.string(),
            reason(error));
    try {
      const Claim result = claim(descriptor, created, file);
      if (result == Claim::ours) return {descriptor, ""};
      const std::string by = owner(descriptor);
      calls::close(descriptor);
      if (result == Claim::held) return {-1, by};
    } catch (...) {
      calls::close(descriptor);
      throw;
    }
  }
}

/// Returns the process whose temporary file has this name: ".linnet-1234-0.tmp".
std::optional<int> process_of(std::string_view name) {
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return std::nullopt;
  name.remove_prefix(kBegin.size());
  int process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  return error == std::errc() && *end == '-' && process > 0 ? std::optional(process) : std::nullopt;
}

/// Returns whether the process has begun after the file was written: it only has the id of the one
/// before.
bool began_later(int process, const fs::path& file) {
  constexpr double kSlack = 2;  // seconds, for clocks that were set
  calls::Status written{};
  return calls::status(file, written) == 0 &&
         process_begin(process) > static_cast<double>(written.st_mtime) + kSlack;
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder, const std::string& advice)
    : file_(folder / kLockFile) {
  auto [descriptor, by] = open_lock(folder, file_);
  require(descriptor >= 0, "the folder '{}' is in use{}: another training writes to it; {}",
          folder.string(), by, advice);
  descriptor_ = descriptor;
  const std::string process = fmt::format("{}\n", process_id());
  const bool written = calls::truncate(descriptor_, 0) == 0 &&
                       calls::write_at(descriptor_, process.data(), process.size(), 0) ==
                           static_cast<calls::Count>(process.size());
  if (written) return;
  const std::string why = reason(errno);
  calls::remove(file_);
  calls::close(descriptor_);
  fail("cannot write into the folder '{}': {}", folder.string(), why);
}

FolderLock::~FolderLock() {
  calls::remove(file_);  // before another process can get the lock
  calls::close(descriptor_);
}

bool is_locked(const fs::path& folder) {
  const fs::path file = folder / kLockFile;
  const int descriptor =
      calls::open(file, O_RDONLY | calls::kNoWait | calls::kNoLink);  // maybe a pipe
  if (descriptor < 0) return false;
  const std::string text = process_in(descriptor);
  calls::close(descriptor);
  int process = 0;
  std::from_chars(text.data(), text.data() + text.size(), process);
  // Nobody's lock is tried: that could stop a training that is just beginning.
  return process > 0 && process_lives(process) && !began_later(process, file);
}

void remove_leftovers(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> dead;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::optional<int> process = process_of(path.filename().string());
    if (!process || fs::symlink_status(path, error).type() != fs::file_type::regular) continue;
    if (!process_lives(*process) || began_later(*process, path)) dead.push_back(path);
  }
  for (const fs::path& path : dead) fs::remove(path, error);
  const fs::path lock = folder / kLockFile;
  const int descriptor = calls::open(lock, O_RDWR | calls::kNoLink);
  if (descriptor < 0) return;
  if (calls::lock(descriptor) == 0 && calls::is_named(descriptor, lock)) {
    calls::remove(lock);
  }
  calls::close(descriptor);
}

}  // namespace linnet::command
