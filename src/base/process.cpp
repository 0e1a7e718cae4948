// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <limits>

namespace linnet {
namespace {

/// Returns the number after `key` at the beginning of a line of a file of the system's; 0 where it
/// is not.
double number_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return std::strtod(line.c_str() + key.size(), nullptr);
  }
  return 0;
}

/// Returns what the limit of this process's addresses (ulimit -v) leaves.
std::size_t bytes_below_limit(std::size_t page) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return limit.rlim_cur - std::min<std::size_t>(limit.rlim_cur, pages * page);
}

}  // namespace

int process_id() { return ::getpid(); }

bool process_lives(int process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

double process_begin(int process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string fields;
  std::getline(file, fields);
  // The 2nd field, a name in parentheses, may hold anything; the 22nd is in ticks since the start.
  std::size_t at = fields.rfind(')');
  for (int i = 2; i < 22 && at != std::string::npos; ++i) at = fields.find(' ', at + 1);
  const double boot = number_in("/proc/stat", "btime ");
  if (at == std::string::npos || boot == 0) return 0;
  return boot +
         std::strtod(fields.c_str() + at, nullptr) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::uint64_t machine_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long size = ::sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || size <= 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size);
}

std::size_t free_bytes() {
  const long pages = sysconf(_SC_AVPHYS_PAGES);
  const long size = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || size <= 0) return 0;
  const auto page = static_cast<std::size_t>(size);
  return std::min(static_cast<std::size_t>(pages) * page, bytes_below_limit(page));
}

void* map_pages(std::size_t bytes) {
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

void unmap_pages(void* pages, std::size_t bytes) { ::munmap(pages, bytes); }

void prefer_huge_pages(void* pages, std::size_t bytes) { ::madvise(pages, bytes, MADV_HUGEPAGE); }

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 && names.nodename[0] != '\0' ? names.nodename : "host";
}

}  // namespace linnet
