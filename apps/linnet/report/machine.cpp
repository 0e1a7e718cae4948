// SPDX-License-Identifier: Apache-2.0
#include "report/machine.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

namespace linnet::command {
namespace {

constexpr std::array<std::string_view, 16> kFlags{"sse4_2",      "avx",      "avx2",
                                                  "fma",         "f16c",     "avx512f",
                                                  "avx512bw",    "avx512vl", "avx512_vnni",
                                                  "avx512_bf16", "avx_vnni", "amx_bf16",
                                                  "amx_int8",    "asimd",    "sve",
                                                  "bf16"};

/// Returns the text after "key : " in a file of such lines, or "".
std::string field(const char* file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, key.size(), key) != 0) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

std::size_t kilobytes(const char* file, std::string_view key) {
  std::size_t value = 0;
  std::istringstream(field(file, key)) >> value;
  return value * 1024;
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.processor = field("/proc/cpuinfo", "model name");
  if (machine.processor.empty()) machine.processor = "unknown processor";
  std::string flags = field("/proc/cpuinfo", "flags");
  if (flags.empty()) flags = field("/proc/cpuinfo", "Features");
  std::istringstream words(flags);
  for (std::string word; words >> word;) {
    if (std::find(kFlags.begin(), kFlags.end(), word) != kFlags.end())
      machine.flags.push_back(word);
  }
  cpu_set_t usable;
  CPU_ZERO(&usable);
  machine.cores = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
  machine.memory_bytes = kilobytes("/proc/meminfo", "MemTotal");
  machine.available_bytes = kilobytes("/proc/meminfo", "MemAvailable");
  return machine;
}

std::size_t peak_bytes() { return kilobytes("/proc/self/status", "VmHWM"); }

std::size_t resident_bytes() { return kilobytes("/proc/self/status", "VmRSS"); }

}  // namespace linnet::command
