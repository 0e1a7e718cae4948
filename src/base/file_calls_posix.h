// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>

namespace linnet::calls {

using Path = std::filesystem::path;
using Count = ssize_t;  ///< of bytes, or -1
using Mode = mode_t;
using Status = struct stat;

constexpr int kNoLink = O_NOFOLLOW;             ///< for open(): fails for a symbolic link
constexpr int kNoWait = O_NONBLOCK | O_NOCTTY;  ///< for open(): does not wait for a pipe's end
constexpr const char* kNothing = "/dev/null";

inline int open(const Path& path, int flags) { return ::open(path.c_str(), flags | O_CLOEXEC); }
inline int open(const Path& path, int flags, Mode mode) {
  return ::open(path.c_str(), flags | O_CLOEXEC, mode);
}
inline int close(int file) { return ::close(file); }
inline Count read(int file, void* to, std::size_t bytes) { return ::read(file, to, bytes); }
inline Count write(int file, const void* from, std::size_t bytes) {
  return ::write(file, from, bytes);
}
inline Count read_at(int file, void* to, std::size_t bytes, std::int64_t offset) {
  return ::pread(file, to, bytes, offset);
}
inline Count write_at(int file, const void* from, std::size_t bytes, std::int64_t offset) {
  return ::pwrite(file, from, bytes, offset);
}
inline std::int64_t seek_end(int file) { return ::lseek(file, 0, SEEK_END); }
inline int truncate(int file, std::int64_t bytes) { return ::ftruncate(file, bytes); }
inline int synchronise(int file) { return ::fsync(file); }
inline int allow(int file, Mode mode) { return ::fchmod(file, mode); }
inline int status(const Path& path, Status& of) { return ::stat(path.c_str(), &of); }
inline int status(int file, Status& of) { return ::fstat(file, &of); }
inline bool is_socket(Mode mode) { return S_ISSOCK(mode); }
inline int rename(const Path& from, const Path& to) { return ::rename(from.c_str(), to.c_str()); }
inline int remove(const Path& file) { return ::unlink(file.c_str()); }
// As text, for signal handlers: making a path takes memory.
inline int remove(const char* file) { return ::unlink(file); }
inline int remove_folder(const char* folder) { return ::rmdir(folder); }
inline std::FILE* write_stream(const Path& path) { return std::fopen(path.c_str(), "wb"); }

/// Opens a folder, so that its names can be synchronised.
inline int open_folder(const Path& folder) { return calls::open(folder, O_RDONLY | O_DIRECTORY); }

/// Claims an open file until it is closed or its process ends. errno is EWOULDBLOCK where another
/// process has it.
inline int lock(int file) { return ::flock(file, LOCK_EX | LOCK_NB); }
/// Returns whether `path` still names the open file.
inline bool is_named(int file, const Path& path) {
  Status opened{};
  Status named{};
  return status(file, opened) == 0 && status(path, named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace linnet::calls
