// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet {

// Both stand in for functions of <bit> in code that kernels run: nvcc 13.0 compiles libstdc++'s
// std::bit_width() for a device to 0, without a warning (tools/check_device_bits.py).

/// Returns the number of bits that x needs; of 0, none.
constexpr int bit_width(std::uint64_t x) { return x == 0 ? 0 : 64 - __builtin_clzll(x); }

/// Returns the smallest power of two that is at least x; x: at most 2^63.
constexpr std::uint64_t bit_ceil(std::uint64_t x) {
  return x <= 1 ? 1 : std::uint64_t{1} << bit_width(x - 1);
}

}  // namespace linnet
