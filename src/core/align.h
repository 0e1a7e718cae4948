// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace linnet {

inline constexpr std::size_t kAlignment = 64;  // a cache line, and a 512-bit vector

constexpr std::size_t align_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace linnet
