// SPDX-License-Identifier: Apache-2.0
// Preloaded (LD_PRELOAD), it counts what a program does to the files of one folder, and makes one
// of these calls fail, or ends the program there as kill -9 would.
//
//   LINNET_FAULT_FOLDER  the folder, absolute, without links
//   LINNET_FAULT_LOG     gets a line for each call: its number, its kind, the file's name
//   LINNET_FAULT_AT      number of the call, from 1, that fails; 0 or unset: none
//   LINNET_FAULT_KIND    "fail" (ENOSPC; a write has written the half) or "kill"
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

using Write = ssize_t (*)(int, const void*, size_t);
using Open = int (*)(const char*, int, ...);

ssize_t really_write(int descriptor, const void* bytes, size_t count) {
  static const auto call = next<Write>("write");
  return call(descriptor, bytes, count);
}

std::string absolute(const char* path) {
  if (path[0] == '/') return path;
  std::array<char, PATH_MAX> here{};
  return std::string(::getcwd(here.data(), here.size()) != nullptr ? here.data() : "") + '/' + path;
}

std::string path_of(int descriptor) {
  std::array<char, PATH_MAX> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
  return std::string(path.data(), size > 0 ? static_cast<size_t>(size) : 0);
}

/// Counts a call on a file; whether it is the one that fails.
bool is_turn(const char* kind, const std::string& path) {
  static const std::string folder = setting("LINNET_FAULT_FOLDER");
  static const long at = std::atol(setting("LINNET_FAULT_AT"));
  static const int log = next<Open>("open")(setting("LINNET_FAULT_LOG"),
                                            O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  static long count = 0;
  if (folder.empty() || path.compare(0, folder.size(), folder) != 0) return false;
  // Written by the clock, for whoever looks on: its calls have no fixed numbers.
  if (path.find("progress", folder.size()) != std::string::npos) return false;
  ++count;
  const std::string name = path.size() > folder.size() ? path.substr(folder.size() + 1) : ".";
  const std::string line = std::to_string(count) + ' ' + kind + ' ' + name + '\n';
  if (log >= 0) really_write(log, line.data(), line.size());
  return count == at;
}

/// Returns what the call that fails returns, unless it ends the program.
int failed() {
  if (std::strcmp(setting("LINNET_FAULT_KIND"), "kill") == 0) ::kill(::getpid(), SIGKILL);
  errno = ENOSPC;
  return -1;
}

int open_file(const char* name, const char* path, int flags, mode_t mode) {
  const bool writes = (flags & (O_CREAT | O_WRONLY | O_RDWR)) != 0;
  if (writes && is_turn("open", absolute(path))) return failed();
  return next<Open>(name)(path, flags, mode);
}

mode_t mode_of(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 ? static_cast<mode_t>(va_arg(rest, int)) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_file("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_file("open64", path, flags, mode);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (is_turn("write", path_of(descriptor))) {
    really_write(descriptor, bytes, count / 2);
    return failed();
  }
  return really_write(descriptor, bytes, count);
}

int fsync(int descriptor) {
  if (is_turn("fsync", path_of(descriptor))) return failed();
  static const auto call = next<int (*)(int)>("fsync");
  return call(descriptor);
}

int rename(const char* from, const char* to) {
  if (is_turn("rename", absolute(to))) return failed();
  static const auto call = next<int (*)(const char*, const char*)>("rename");
  return call(from, to);
}

int mkdir(const char* path, mode_t mode) {
  if (is_turn("mkdir", absolute(path))) return failed();
  static const auto call = next<int (*)(const char*, mode_t)>("mkdir");
  return call(path, mode);
}

int remove(const char* path) {
  if (is_turn("remove", absolute(path))) return failed();
  static const auto call = next<int (*)(const char*)>("remove");
  return call(path);
}
}
