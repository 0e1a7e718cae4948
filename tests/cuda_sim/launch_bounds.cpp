// SPDX-License-Identifier: Apache-2.0
#include "cuda_sim/launch_bounds.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace linnet::cuda::sim {

#if defined(LINNET_SIM_NOPS)

namespace {

#if defined(__aarch64__)
constexpr std::uint32_t kNop = 0xD503201F;
#else
constexpr std::uint8_t kNop = 0x90;
#endif
constexpr unsigned kMostThreads = 1024;

}  // namespace

unsigned launch_bounds(const void* kernel) {
  const auto* code = static_cast<const std::byte*>(kernel);
  unsigned nops = 0;
  for (; nops < LINNET_SIM_NOPS(kMostThreads); ++nops) {
    auto instruction = kNop;
    std::memcpy(&instruction, code - (nops + 1) * sizeof kNop, sizeof kNop);
    if (instruction != kNop) break;
  }
  return nops <= LINNET_SIM_NOPS(0) ? kUndeclaredThreads : 32 * (nops - LINNET_SIM_NOPS(0));
}

#else

unsigned launch_bounds(const void* /*kernel*/) { return 1024; }  // nobody knows them here

#endif

}  // namespace linnet::cuda::sim
