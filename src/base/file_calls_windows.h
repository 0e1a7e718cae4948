// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>

namespace linnet::calls {

using Path = std::filesystem::path;
using Count = std::int64_t;  ///< of bytes, or -1
using Mode = unsigned short;
using Status = struct _stat64;

constexpr int kNoLink = 1 << 24;  ///< for open(): fails for a symbolic link
constexpr int kNoWait = 0;        ///< there is no pipe in the file system
constexpr const char* kNothing = "NUL";

/// As POSIX's: others may read, write, rename and remove the file meanwhile.
int open(const Path& path, int flags, Mode mode = 0);
inline int close(int file) { return ::_close(file); }
Count read(int file, void* to, std::size_t bytes);
Count write(int file, const void* from, std::size_t bytes);
Count read_at(int file, void* to, std::size_t bytes, std::int64_t offset);
Count write_at(int file, const void* from, std::size_t bytes, std::int64_t offset);
inline std::int64_t seek_end(int file) { return ::_lseeki64(file, 0, SEEK_END); }
inline int truncate(int file, std::int64_t bytes) {
  errno = ::_chsize_s(file, bytes);
  return errno == 0 ? 0 : -1;
}
inline int synchronise(int file) { return ::_commit(file); }
inline int allow(int, Mode) { return 0; }  // access is the folder's
inline int status(const Path& path, Status& of) { return ::_wstat64(path.c_str(), &of); }
inline int status(int file, Status& of) { return ::_fstat64(file, &of); }
inline bool is_socket(Mode) { return false; }
/// Replaces a file, also one that is open.
int rename(const Path& from, const Path& to);
inline int remove(const Path& file) { return ::_wunlink(file.c_str()); }
inline int remove_folder(const Path& folder) { return ::_wrmdir(folder.c_str()); }
inline std::FILE* write_stream(const Path& path) { return ::_wfopen(path.c_str(), L"wb"); }

/// Returns -1 with errno 0: Windows has no way to bring a folder's names to the disk.
inline int open_folder(const Path&) {
  errno = 0;
  return -1;
}

int lock(int file);
bool is_named(int file, const Path& path);

}  // namespace linnet::calls
