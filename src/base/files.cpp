// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <cerrno>
#include <limits>
#include <new>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file_calls.h"
#include "base/process.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadBlock = std::size_t{1} << 16;
constexpr std::size_t kMostOfNoSize = std::size_t{64} << 20;

[[noreturn]] void fail_to_read(const fs::path& path, int error) {
  fail<DataError>("cannot read '{}': {}", path.string(), std::generic_category().message(error));
}

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  fail("cannot write '{}': {}", path.string(), std::generic_category().message(error));
}

/// A link to nothing is named as such, since `ls` shows that it is there.
[[noreturn]] void fail_to_find(const fs::path& path, int error) {
  std::error_code none;
  if (error == ENOENT && fs::is_symlink(path, none)) {
    fail<DataError>("cannot read '{}': it is a link to '{}', which does not exist", path.string(),
                    fs::read_symlink(path, none).string());
  }
  fail_to_read(path, error);
}

void require_regular(const fs::path& path, calls::Mode mode) {
  if (S_ISREG(mode)) return;
  if (S_ISDIR(mode)) fail_to_read(path, EISDIR);
  const char* kind = S_ISFIFO(mode) ? "pipe (FIFO)" : calls::is_socket(mode) ? "socket" : "device";
  fail<DataError>("cannot read '{}': it is a {}, not a regular file", path.string(), kind);
}

/// Fills `to`; returns fewer bytes only at the end.
std::size_t read_all(const fs::path& path, int descriptor, std::span<char> to) {
  std::size_t used = 0;
  while (used < to.size()) {
    const calls::Count count = calls::read(descriptor, to.data() + used, to.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_read(path, errno);
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  return used;
}

/// Appends what `read` gives to `content`; false where it is more than `most` bytes.
template <class Read>
bool read_up_to(std::size_t most, std::string& content, const Read& read) {
  std::vector<char> block(kReadBlock);
  while (true) {
    const std::size_t count = read(std::span(block));
    if (count > most - content.size()) return false;
    content.append(block.data(), count);
    if (count < block.size()) return true;
  }
}

/// Closes on leaving a scope; close() itself reports what the destructor can't.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) calls::close(value_);
  }
  int get() const { return value_; }
  /// Returns 0 or the error: network file systems report a full disk only here.
  int close() { return calls::close(std::exchange(value_, -1)) == 0 ? 0 : errno; }

 private:
  int value_;
};

/// Returns 0 or the error.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const calls::Count count = calls::write(descriptor, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

/// Returns 0 or the error. Some file systems have nothing to bring to a disk and say EINVAL.
int synchronise(int descriptor) {
  return calls::synchronise(descriptor) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
}

/// Returns the file that `path` stands for: where it links to, else itself.
fs::path target_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  fs::path target = fs::weakly_canonical(path, error);
  if (error) fail_to_write(path, error.value());
  return target;
}

/// Writes the pieces to an open file, which then allows what `old` did; returns 0 or the error.
int write_pieces(int descriptor, std::span<const std::string_view> pieces,
                 const std::optional<calls::Mode>& mode) {
  if (mode && calls::allow(descriptor, *mode) != 0) return errno;
  for (const std::string_view piece : pieces) {
    if (const int error = write_all(descriptor, piece); error != 0) return error;
  }
  return synchronise(descriptor);
}

/// A device or a pipe can't be replaced: it gets the bytes as they come.
void write_in_place(const fs::path& path, std::span<const std::string_view> pieces) {
  const Descriptor file(calls::open(path, O_WRONLY));
  if (file.get() < 0) fail_to_write(path, errno);
  if (const int error = write_pieces(file.get(), pieces, {}); error != 0) {
    fail_to_write(path, error);
  }
}

/// Brings a folder's names to the disk; returns 0 or the error.
int synchronise_folder(const fs::path& folder) {
  const Descriptor directory(calls::open_folder(folder));
  return directory.get() >= 0 ? synchronise(directory.get()) : errno;
}

/// write_file_atomically(); returns 0, or why the rename may not outlive a power cut.
int replace_file(const fs::path& path, std::span<const std::string_view> pieces) {
  const fs::path target = target_of(path);
  if (!target.has_filename()) fail_to_write(path, target.empty() ? ENOENT : EISDIR);
  std::optional<calls::Mode> mode;
  if (calls::Status old{}; calls::status(target, old) == 0) {
    if (S_ISDIR(old.st_mode)) fail_to_write(path, EISDIR);
    if (!S_ISREG(old.st_mode)) {
      write_in_place(target, pieces);
      return 0;
    }
    mode = old.st_mode & 0777U;
  }

  // The process id alone would not part two threads; O_EXCL finds a name that is free.
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  fs::path temporary;
  int opened = -1;
  for (int attempt = 0; opened < 0; ++attempt) {
    temporary = folder / fmt::format(".linnet-{}-{}.tmp", process_id(), attempt);
    opened = calls::open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode.value_or(0666));
    if (opened < 0 && errno != EEXIST) fail_to_write(path, errno);
  }
  Descriptor file(opened);
  int error = write_pieces(file.get(), pieces, mode);
  if (const int closing = file.close(); error == 0) error = closing;
  if (error == 0 && calls::rename(temporary, target) != 0) error = errno;
  if (error != 0) {
    calls::remove(temporary);
    fail_to_write(path, error);
  }
  return synchronise_folder(folder);
}

}  // namespace

InputFile::InputFile(fs::path path) : path_(std::move(path)) {
  calls::Status status{};
  // Before opening, since opening alone wakes a device or waits for a pipe's other end.
  if (calls::status(path_, status) != 0) fail_to_find(path_, errno);
  require_regular(path_, status.st_mode);
  // Non-blocking: another may have put a pipe there meanwhile.
  descriptor_ = calls::open(path_, O_RDONLY | calls::kNoWait);
  if (descriptor_ < 0 || calls::status(descriptor_, status) != 0) fail_to_read(path_, errno);
  try {
    require_regular(path_, status.st_mode);
  } catch (const Error&) {
    calls::close(descriptor_);
    throw;
  }
  bytes_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { calls::close(descriptor_); }

std::size_t InputFile::read(std::span<char> to) { return read_all(path_, descriptor_, to); }

std::string read_file(const fs::path& path) {
  InputFile file(path);
  if (file.bytes() == 0) {
    std::string content;
    require<DataError>(read_up_to(kMostOfNoSize, content,
                                  [&](std::span<char> to) { return file.read(to); }),
                       "cannot read '{}': it has more than {} bytes", path.string(), kMostOfNoSize);
    return content;
  }
  std::string content;
  try {
    if (file.bytes() > machine_bytes()) throw std::bad_alloc();  // untouched pages would be granted
    content.resize(file.bytes());
  } catch (const std::bad_alloc&) {
    fail<OutOfMemory>("cannot read '{}': its {} bytes do not fit into memory", path.string(),
                      file.bytes());
  }
  content.resize(file.read(content));
  return content;
}

std::string read_text(const fs::path& path, std::size_t most) {
  std::string content;
  const auto read = [&](auto&& from) {
    require<DataError>(read_up_to(most, content, from),
                       "cannot read '{}': it has more than {} bytes", path.string(), most);
  };
  if (path == "-") {
    read([&](std::span<char> to) { return read_all("standard input", STDIN_FILENO, to); });
  } else {
    InputFile file(path);
    read([&](std::span<char> to) { return file.read(to); });
  }
  return content;
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  write_file_atomically(path, std::span<const std::string_view>(&content, 1));
}

void write_file_atomically(const fs::path& path, std::span<const std::string_view> pieces) {
  // The rename has happened, so that what follows can't fail the call.
  static_cast<void>(replace_file(path, pieces));
}

void write_file_durably(const fs::path& path, std::span<const std::string_view> pieces) {
  if (const int error = replace_file(path, pieces); error != 0) fail_to_write(path, error);
}

void sync_folder(const fs::path& folder) {
  if (const int error = synchronise_folder(folder); error != 0) fail_to_write(folder, error);
}

AppendFile::AppendFile(fs::path path)
    : path_(std::move(path)), descriptor_(calls::open(path_, O_WRONLY | O_CREAT | O_APPEND, 0666)) {
  if (descriptor_ < 0) fail_to_write(path_, errno);
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) calls::close(descriptor_);
}

void AppendFile::append(std::string_view record) {
  const std::int64_t before = calls::seek_end(descriptor_);
  if (const int error = write_all(descriptor_, record); error != 0) {
    // A pipe has no end to go back to.
    if (before >= 0 && calls::truncate(descriptor_, before) != 0) fail_to_write(path_, errno);
    fail_to_write(path_, error);
  }
}

}  // namespace linnet
