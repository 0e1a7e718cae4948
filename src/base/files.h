// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace linnet {

/// A regular file, open for reading: how every file that a user names is opened. A pipe, a socket
/// or a device is never opened, since it may block or have no end.
class InputFile {
 public:
  /// Throws Error: "cannot read 'x': No such file or directory", "... it is a pipe (FIFO), not a
  /// regular file", "... it is a link to 'y', which does not exist".
  explicit InputFile(std::filesystem::path path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  const std::filesystem::path& path() const { return path_; }
  /// Returns the size when it was opened; 0 also for a file that the system makes as it is read
  /// (/proc).
  std::uint64_t bytes() const { return bytes_; }
  /// Fills `to` from where the last call ended; returns fewer bytes only at the end of the file.
  std::size_t read(std::span<char> to);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

/// Returns all bytes that a regular file has when it is opened; of one without a size at most 64
/// MiB. Throws Error as InputFile, and for a file that does not fit into memory.
std::string read_file(const std::filesystem::path& path);

/// Does the same for a text file of at most `most` bytes; "-" is standard input.
std::string read_text(const std::filesystem::path& path, std::size_t most);

/// Puts `content` in place of the file at `path`, whole or not at all: it is written beside it,
/// brought to the disk, and renamed over it. A symbolic link is followed, an existing file's
/// permissions are kept. On any error (a full disk too) the old file stays as it was, nothing is
/// left beside it, and Error is thrown: "cannot write 'x': No space left on device". A device or a
/// pipe is written to as it is.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Does the same for a file made of several pieces, one after the other, without joining them in
/// memory.
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::string_view> pieces);

/// write_file_atomically() that also throws Error where the folder cannot be brought to the disk:
/// the new file has replaced the old one then, but a power cut may bring that back.
void write_file_durably(const std::filesystem::path& path,
                        std::span<const std::string_view> pieces);

/// Brings the names of a folder's files to the disk. Throws Error: "cannot write 'x': ...".
void sync_folder(const std::filesystem::path& folder);

/// A file that grows by whole records, e.g. history.jsonl by lines. Not thread-safe; movable.
class AppendFile {
 public:
  /// Opens `path` for appending, creating it if needed. Throws Error where that fails.
  explicit AppendFile(std::filesystem::path path);
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;
  ~AppendFile();

  /// Hands a record to the system in one piece, so that a reader sees it at once. Throws Error; a
  /// record that did not fit is taken back, so that the file ends in a whole one.
  void append(std::string_view record);
  /// Does the same for a line and a newline.
  void append_line(std::string_view line) { append(std::string(line) + '\n'); }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace linnet
