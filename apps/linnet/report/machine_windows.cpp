// SPDX-License-Identifier: Apache-2.0
#include <windows.h>
// After windows.h.
#include <cpuid.h>
#include <psapi.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "base/thread_team.h"
#include "report/machine.h"

namespace linnet::command {
namespace {

/// Returns what the processor calls itself.
std::string processor_name() {
  std::array<unsigned, 12> words{};
  for (unsigned i = 0; i < 3; ++i) {
    unsigned* part = words.data() + std::size_t{4} * i;
    if (__get_cpuid(0x80000002U + i, part, part + 1, part + 2, part + 3) == 0) return "";
  }
  std::array<char, sizeof words + 1> text{};
  std::memcpy(text.data(), words.data(), sizeof words);
  std::string name = text.data();
  while (!name.empty() && name.back() == ' ') name.pop_back();
  return name;
}

std::vector<std::string> flags() {
  std::vector<std::string> found;
  const auto add = [&](bool has, const char* name) {
    if (has) found.emplace_back(name);
  };
  add(__builtin_cpu_supports("sse4.2") != 0, "sse4_2");
  add(__builtin_cpu_supports("avx") != 0, "avx");
  add(__builtin_cpu_supports("avx2") != 0, "avx2");
  add(__builtin_cpu_supports("fma") != 0, "fma");
  add(__builtin_cpu_supports("avx512f") != 0, "avx512f");
  add(__builtin_cpu_supports("avx512bw") != 0, "avx512bw");
  add(__builtin_cpu_supports("avx512vl") != 0, "avx512vl");
  add(__builtin_cpu_supports("avx512vnni") != 0, "avx512_vnni");
  add(__builtin_cpu_supports("avx512bf16") != 0, "avx512_bf16");
  return found;
}

PROCESS_MEMORY_COUNTERS counters() {
  PROCESS_MEMORY_COUNTERS found{};
  found.cb = sizeof found;
  if (::GetProcessMemoryInfo(::GetCurrentProcess(), &found, sizeof found) == 0) return {};
  return found;
}

}  // namespace

Machine this_machine() {
  MEMORYSTATUSEX memory{};
  memory.dwLength = sizeof memory;
  ::GlobalMemoryStatusEx(&memory);
  Machine machine;
  machine.processor = processor_name();
  if (machine.processor.empty()) machine.processor = "unknown processor";
  machine.flags = flags();
  machine.cores = available_processors();
  machine.memory_bytes = memory.ullTotalPhys;
  machine.available_bytes = memory.ullAvailPhys;
  return machine;
}

std::size_t peak_bytes() { return counters().PeakWorkingSetSize; }

std::size_t resident_bytes() { return counters().WorkingSetSize; }

}  // namespace linnet::command
