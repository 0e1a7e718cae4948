// SPDX-License-Identifier: Apache-2.0
#include "base/file_calls_windows.h"

#include <windows.h>

#include <algorithm>
#include <system_error>

namespace linnet::calls {
namespace {

/// Sets errno by the error of the last call; returns -1.
int failed() {
  const DWORD error = ::GetLastError();
  const std::error_condition found =
      std::error_code(static_cast<int>(error), std::system_category()).default_error_condition();
  errno = found.category() == std::generic_category() ? found.value() : EIO;
  if (error == ERROR_LOCK_VIOLATION) errno = EWOULDBLOCK;
  if (error == ERROR_SHARING_VIOLATION || error == ERROR_ACCESS_DENIED) errno = EACCES;
  if (error == ERROR_PATH_NOT_FOUND || error == ERROR_INVALID_NAME) errno = ENOENT;
  if (error == ERROR_DISK_FULL || error == ERROR_HANDLE_DISK_FULL) errno = ENOSPC;
  return -1;
}

HANDLE handle_of(int file) { return reinterpret_cast<HANDLE>(::_get_osfhandle(file)); }

constexpr std::size_t kMost = std::size_t{1} << 30;  // of a call

OVERLAPPED at(std::int64_t offset) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return place;
}

}  // namespace

int open(const Path& path, int flags, Mode) {
  const int way = flags & (O_RDONLY | O_WRONLY | O_RDWR);
  const DWORD access = way == O_RDWR     ? GENERIC_READ | GENERIC_WRITE
                       : way == O_WRONLY ? GENERIC_WRITE
                                         : GENERIC_READ;
  const DWORD how = (flags & O_EXCL) != 0    ? CREATE_NEW
                    : (flags & O_CREAT) != 0 ? OPEN_ALWAYS
                                             : OPEN_EXISTING;
  const DWORD link = (flags & kNoLink) != 0 ? FILE_FLAG_OPEN_REPARSE_POINT : 0;
  const HANDLE handle =
      ::CreateFileW(path.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                    nullptr, how, FILE_ATTRIBUTE_NORMAL | link, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return failed();
  BY_HANDLE_FILE_INFORMATION info{};
  if (link != 0 && ::GetFileInformationByHandle(handle, &info) != 0 &&
      (info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
    ::CloseHandle(handle);
    errno = ELOOP;
    return -1;
  }
  const int file = ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle),
                                     way | (flags & O_APPEND) | _O_BINARY | _O_NOINHERIT);
  if (file < 0) ::CloseHandle(handle);
  return file;
}

Count read(int file, void* to, std::size_t bytes) {
  return ::_read(file, to, static_cast<unsigned>(std::min(bytes, kMost)));
}

Count write(int file, const void* from, std::size_t bytes) {
  return ::_write(file, from, static_cast<unsigned>(std::min(bytes, kMost)));
}

Count read_at(int file, void* to, std::size_t bytes, std::int64_t offset) {
  DWORD done = 0;
  OVERLAPPED place = at(offset);
  if (::ReadFile(handle_of(file), to, static_cast<DWORD>(std::min(bytes, kMost)), &done, &place))
    return done;
  return ::GetLastError() == ERROR_HANDLE_EOF ? 0 : failed();
}

Count write_at(int file, const void* from, std::size_t bytes, std::int64_t offset) {
  DWORD done = 0;
  OVERLAPPED place = at(offset);
  const bool good = ::WriteFile(handle_of(file), from, static_cast<DWORD>(std::min(bytes, kMost)),
                                &done, &place) != 0;
  return good ? static_cast<Count>(done) : failed();
}

int rename(const Path& from, const Path& to) {
  const DWORD old = ::GetFileAttributesW(to.c_str());
  // As POSIX's, it takes the place of an empty folder.
  if (old != INVALID_FILE_ATTRIBUTES && (old & FILE_ATTRIBUTE_DIRECTORY) != 0 &&
      ::RemoveDirectoryW(to.c_str()) == 0) {
    return failed();
  }
  const DWORD how = MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH;
  return ::MoveFileExW(from.c_str(), to.c_str(), how) != 0 ? 0 : failed();
}

int lock(int file) {
  // A byte that no file has: what the file says can still be read.
  OVERLAPPED place = at(std::int64_t{1} << 62);
  const DWORD how = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
  return ::LockFileEx(handle_of(file), how, 0, 1, 0, &place) != 0 ? 0 : failed();
}

bool is_named(int file, const Path& path) {
  const int other = open(path, O_RDONLY);
  if (other < 0) return false;
  BY_HANDLE_FILE_INFORMATION opened{};
  BY_HANDLE_FILE_INFORMATION named{};
  const bool known = ::GetFileInformationByHandle(handle_of(file), &opened) != 0 &&
                     ::GetFileInformationByHandle(handle_of(other), &named) != 0;
  close(other);
  return known && opened.dwVolumeSerialNumber == named.dwVolumeSerialNumber &&
         opened.nFileIndexHigh == named.nFileIndexHigh &&
         opened.nFileIndexLow == named.nFileIndexLow;
}

}  // namespace linnet::calls
