// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/bits.h"

namespace linnet {

/// Names what a random number is for, so that no two uses share a sequence.
enum class RandomStream : std::uint32_t {
  shuffle = 1,
  split = 2,
  initializer = 3,
  dropout = 4,
  augment = 5,
  mix = 6,
  normal = 7,
  uniform = 8,
  flip = 9
};

// constexpr also lets CUDA kernels call them.

/// Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011): four
/// 32-bit random words as a pure function of a 64-bit key and a 128-bit counter.
constexpr std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low,
                                              std::uint64_t counter_high) {
  std::array<std::uint32_t, 4> c{static_cast<std::uint32_t>(counter_low),
                                 static_cast<std::uint32_t>(counter_low >> 32),
                                 static_cast<std::uint32_t>(counter_high),
                                 static_cast<std::uint32_t>(counter_high >> 32)};
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return c;
}

/// Returns the finaliser of splitmix64 (Steele et al., "Fast Splittable Pseudorandom Number
/// Generators", 2014): every bit of the result depends on every bit of x.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// Mixes a seed, a stream and two numbers of the caller's into a key.
constexpr std::uint64_t random_key(std::uint64_t seed, RandomStream stream, std::uint64_t a = 0,
                                   std::uint64_t b = 0) {
  return mix_bits(mix_bits(mix_bits(mix_bits(seed) ^ static_cast<std::uint64_t>(stream)) ^ a) ^ b);
}

/// Returns a uniform number in [0, 1) with 24 random bits.
constexpr float unit_float(std::uint32_t word) {
  return static_cast<float>(word >> 8) * (1.0F / 16777216.0F);
}

/// Returns two independent standard normal numbers from two words (Box and Muller, 1958).
std::array<float, 2> normal_pair(std::uint32_t first, std::uint32_t second);

/// A keyed bijection of [0, size): a permutation that is computed, not stored (four Feistel rounds
/// over the next even power of two, walked until inside). Needs no memory and no sorting.
class Permutation {
 public:
  /// size: at least 1.
  constexpr Permutation(std::uint64_t key, std::uint64_t size)
      : key_(key),
        size_(size),
        half_bits_(static_cast<std::uint32_t>(bit_width(size > 1 ? size - 1 : 1) + 1) / 2) {}

  /// index: below the size.
  constexpr std::uint64_t operator()(std::uint64_t index) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    do {
      std::uint64_t left = index >> half_bits_;
      std::uint64_t right = index & mask;
      for (std::uint64_t round = 0; round < 4; ++round) {
        const std::uint64_t next = left ^ (mix_bits(key_ ^ (right + (round << 56))) & mask);
        left = right;
        right = next;
      }
      index = (left << half_bits_) | right;
    } while (index >= size_);
    return index;
  }

 private:
  std::uint64_t key_;
  std::uint64_t size_;
  std::uint32_t half_bits_;
};

}  // namespace linnet
