// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace linnet {

/// Names what a random number is for, so that no two uses share a sequence.
enum class RandomStream : std::uint32_t { shuffle = 1, split = 2, initializer = 3, dropout = 4 };

/// Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011): four
/// 32-bit random words as a pure function of a 64-bit key and a 128-bit counter.
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low,
                                    std::uint64_t counter_high);

/// Mixes a seed, a stream and two numbers of the caller's into a key (splitmix64 steps).
std::uint64_t random_key(std::uint64_t seed, RandomStream stream, std::uint64_t a = 0,
                         std::uint64_t b = 0);

/// A uniform number in [0, 1) with 24 random bits.
constexpr float unit_float(std::uint32_t word) {
  return static_cast<float>(word >> 8) * (1.0F / 16777216.0F);
}

/// Two independent standard normal numbers from two words (Box and Muller, 1958).
std::array<float, 2> normal_pair(std::uint32_t first, std::uint32_t second);

/// A keyed bijection of [0, size): a permutation that is computed, not stored (four Feistel rounds
/// over the next even power of two, walked until inside). Needs no memory and no sorting.
class Permutation {
 public:
  Permutation(std::uint64_t key, std::uint64_t size);
  std::uint64_t operator()(std::uint64_t index) const;

 private:
  std::uint64_t key_;
  std::uint64_t size_;
  std::uint32_t half_bits_;
};

}  // namespace linnet
