// SPDX-License-Identifier: Apache-2.0
#include <windows.h>

#include <algorithm>
#include <limits>

#include "base/process.h"

namespace linnet {
namespace {

MEMORYSTATUSEX memory() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (::GlobalMemoryStatusEx(&status) == 0) return {};
  return status;
}

}  // namespace

int process_id() { return static_cast<int>(::GetCurrentProcessId()); }

bool process_lives(int process) {
  const HANDLE handle = ::OpenProcess(SYNCHRONIZE, FALSE, static_cast<DWORD>(process));
  if (handle == nullptr) return ::GetLastError() == ERROR_ACCESS_DENIED;
  const bool runs = ::WaitForSingleObject(handle, 0) == WAIT_TIMEOUT;
  ::CloseHandle(handle);
  return runs;
}

double process_begin(int process) {
  const HANDLE handle =
      ::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(process));
  if (handle == nullptr) return 0;
  FILETIME begin{};
  FILETIME others[3]{};
  const bool known = ::GetProcessTimes(handle, &begin, &others[0], &others[1], &others[2]) != 0;
  ::CloseHandle(handle);
  if (!known) return 0;
  constexpr double kSecondsFrom1601 = 11'644'473'600.0;
  const auto high = static_cast<std::uint64_t>(begin.dwHighDateTime) << 32;
  return static_cast<double>(high | begin.dwLowDateTime) * 1e-7 - kSecondsFrom1601;
}

std::uint64_t machine_bytes() {
  const std::uint64_t bytes = memory().ullTotalPhys;
  return bytes == 0 ? std::numeric_limits<std::uint64_t>::max() : bytes;
}

std::size_t free_bytes() {
  const MEMORYSTATUSEX status = memory();
  return std::min(status.ullAvailPhys, status.ullAvailPageFile);
}

void* map_pages(std::size_t bytes) {
  return ::VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void unmap_pages(void* pages, std::size_t) { ::VirtualFree(pages, 0, MEM_RELEASE); }

void prefer_huge_pages(void*, std::size_t) {}  // needs a privilege

std::string host_name() {
  char name[MAX_COMPUTERNAME_LENGTH + 1]{};
  DWORD size = sizeof name;
  return ::GetComputerNameA(name, &size) != 0 ? std::string(name, size) : "host";
}

}  // namespace linnet
