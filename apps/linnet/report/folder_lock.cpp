// SPDX-License-Identifier: Apache-2.0
#include "report/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"

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
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text.substr(0, text.find('\n'));
}

/// " by process 1234", or nothing.
std::string owner(int descriptor) {
  const std::string process = process_in(descriptor);
  return process.empty() ? process : " by process " + process;
}

/// Returns whether the file is still there under its name: its owner may just have removed it.
bool is_named(int descriptor, const fs::path& file) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(file.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

enum class Claim : std::uint8_t { ours, gone, held };

/// Takes the lock of an open lock file. Throws Error for a file of another process where the file
/// system has no locks: that process may live or not.
Claim claim(int descriptor, bool created, const fs::path& file) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    return is_named(descriptor, file) ? Claim::ours : Claim::gone;
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
    int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool created = descriptor >= 0;
    if (!created && errno == EEXIST) {
      descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
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
      ::close(descriptor);
      if (result == Claim::held) return {-1, by};
    } catch (...) {
      ::close(descriptor);
      throw;
    }
  }
}

/// Returns the process whose temporary file has this name: ".linnet-1234-0.tmp".
std::optional<pid_t> process_of(std::string_view name) {
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return std::nullopt;
  name.remove_prefix(kBegin.size());
  pid_t process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  return error == std::errc() && *end == '-' && process > 0 ? std::optional(process) : std::nullopt;
}

bool lives(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

/// Returns the number after `key` at the beginning of a line of a file of the system's; 0 where it
/// is not.
double number_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return std::strtod(line.c_str() + key.size(), nullptr);
  }
  return 0;
}

/// When a process began, in seconds since 1970; 0 where that is not known.
double begin_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string fields;
  std::getline(file, fields);
  // The 2nd field, a name in parentheses, may hold anything; the 22nd is in ticks since the start.
  std::istringstream rest(fields.substr(std::min(fields.rfind(')'), fields.size())));
  std::string field;
  for (int i = 2; i <= 22; ++i) rest >> field;
  const double boot = number_in("/proc/stat", "btime ");
  if (!rest || boot == 0) return 0;
  return boot + std::strtod(field.c_str(), nullptr) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// Returns whether the process has begun after the file was written: it only has the id of the one
/// before.
bool began_later(pid_t process, const fs::path& file) {
  constexpr double kSlack = 2;  // seconds, for clocks that were set
  struct stat written {};
  return ::stat(file.c_str(), &written) == 0 &&
         begin_of(process) > static_cast<double>(written.st_mtime) + kSlack;
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder, const std::string& advice)
    : file_(folder / kLockFile) {
  auto [descriptor, by] = open_lock(folder, file_);
  require(descriptor >= 0, "the folder '{}' is in use{}: another training writes to it; {}",
          folder.string(), by, advice);
  descriptor_ = descriptor;
  const std::string process = fmt::format("{}\n", ::getpid());
  const bool written = ::ftruncate(descriptor_, 0) == 0 &&
                       ::pwrite(descriptor_, process.data(), process.size(), 0) ==
                           static_cast<ssize_t>(process.size());
  if (written) return;
  const std::string why = reason(errno);
  ::unlink(file_.c_str());
  ::close(descriptor_);
  fail("cannot write into the folder '{}': {}", folder.string(), why);
}

FolderLock::~FolderLock() {
  ::unlink(file_.c_str());  // before another process can get the lock
  ::close(descriptor_);
}

bool is_locked(const fs::path& folder) {
  const fs::path file = folder / kLockFile;
  const int descriptor =
      ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);  // maybe a pipe
  if (descriptor < 0) return false;
  const std::string text = process_in(descriptor);
  ::close(descriptor);
  pid_t process = 0;
  std::from_chars(text.data(), text.data() + text.size(), process);
  // Nobody's lock is tried: that could stop a training that is just beginning.
  return process > 0 && lives(process) && !began_later(process, file);
}

void remove_leftovers(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> dead;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::optional<pid_t> process = process_of(path.filename().string());
    if (!process || fs::symlink_status(path, error).type() != fs::file_type::regular) continue;
    if (!lives(*process) || began_later(*process, path)) dead.push_back(path);
  }
  for (const fs::path& path : dead) fs::remove(path, error);
  const fs::path lock = folder / kLockFile;
  const int descriptor = ::open(lock.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_named(descriptor, lock)) {
    ::unlink(lock.c_str());
  }
  ::close(descriptor);
}

}  // namespace linnet::command
