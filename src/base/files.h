// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace linnet {

/// All bytes of a regular file. Throws Error: "cannot read 'x': No such file or directory".
std::string read_file(const std::filesystem::path& path);

/// Puts `content` in place of the file at `path`, whole or not at all: it is written beside it,
/// brought to the disk, and renamed over it. A symbolic link is followed, an existing file's
/// permissions are kept. On any error (a full disk too) the old file stays as it was, nothing is
/// left beside it, and Error is thrown: "cannot write 'x': No space left on device". A device or a
/// pipe is written to as it is.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// The same for a file made of several pieces, one after the other, without joining them in memory.
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::string_view> pieces);

/// A text file that grows by whole lines, e.g. history.jsonl. Not thread-safe; movable.
class AppendFile {
 public:
  /// Opens `path` for appending, creating it if needed. Throws Error where that fails.
  explicit AppendFile(std::filesystem::path path);
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;
  ~AppendFile();

  /// Hands `line` and a newline to the system in one piece, so that a reader sees it at once.
  /// Throws Error; a line that did not fit is taken back, so that the file ends in a whole line.
  void append_line(std::string_view line);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace linnet
