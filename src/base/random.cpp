// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace linnet {
namespace {

constexpr std::uint64_t mix(std::uint64_t x) {  // the finaliser of splitmix64
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low,
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

std::uint64_t random_key(std::uint64_t seed, RandomStream stream, std::uint64_t a,
                         std::uint64_t b) {
  return mix(mix(mix(mix(seed) ^ static_cast<std::uint64_t>(stream)) ^ a) ^ b);
}

std::array<float, 2> normal_pair(std::uint32_t first, std::uint32_t second) {
  // (word + 0.5) / 2^32 is never 0, so the logarithm is finite.
  const double u = (static_cast<double>(first) + 0.5) * 0x1p-32;
  const double angle = 2.0 * std::numbers::pi * static_cast<double>(second) * 0x1p-32;
  const double radius = std::sqrt(-2.0 * std::log(u));
  return {static_cast<float>(radius * std::cos(angle)),
          static_cast<float>(radius * std::sin(angle))};
}

Permutation::Permutation(std::uint64_t key, std::uint64_t size)
    : key_(key),
      size_(size),
      half_bits_(static_cast<std::uint32_t>(std::bit_width(size > 1 ? size - 1 : 1) + 1) / 2) {
  LINNET_ASSERT(size > 0);
}

std::uint64_t Permutation::operator()(std::uint64_t index) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  do {
    std::uint64_t left = index >> half_bits_;
    std::uint64_t right = index & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t next = left ^ (mix(key_ ^ (right + (round << 56))) & mask);
      left = right;
      right = next;
    }
    index = (left << half_bits_) | right;
  } while (index >= size_);
  return index;
}

}  // namespace linnet
