// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace linnet::cpu {

/// Asks for the beginning of a record: shuffled ones lie anywhere in memory, and the processor sees
/// only after some lines of one that it is read in order.
inline void prefetch_record(const std::byte* record, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kBegin = 16 * kLine;
  for (std::size_t i = 0; i < std::min(bytes, kBegin); i += kLine) __builtin_prefetch(record + i);
}

}  // namespace linnet::cpu
