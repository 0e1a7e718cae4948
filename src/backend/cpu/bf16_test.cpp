// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/bf16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace linnet::cpu {
namespace {

float of_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

std::uint32_t rounded(float x) {
  float result = 0;
  round_to_bf16(&x, 1, &result);
  std::uint16_t half = 0;
  round_to_bf16(&x, 1, &half);
  const auto bits = std::bit_cast<std::uint32_t>(result);
  EXPECT_EQ(bits & 0xFFFFU, 0U);
  EXPECT_EQ(bits >> 16, half);
  return half;
}

TEST(Bf16, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(rounded(1.0F), 0x3F80U);
  EXPECT_EQ(rounded(of_bits(0x3F807FFF)), 0x3F80U);
  EXPECT_EQ(rounded(of_bits(0x3F808000)), 0x3F80U);  // a tie, down to even
  EXPECT_EQ(rounded(of_bits(0x3F808001)), 0x3F81U);
  EXPECT_EQ(rounded(of_bits(0x3F818000)), 0x3F82U);  // a tie, up to even
  EXPECT_EQ(rounded(of_bits(0xBFFFFFFF)), 0xC000U);  // carries into the exponent
  EXPECT_EQ(rounded(of_bits(0x00018001)), 0x0002U);  // subnormal
  EXPECT_EQ(rounded(-0.0F), 0x8000U);
}

TEST(Bf16, KeepsInfinitiesAndNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(rounded(kInfinity), 0x7F80U);
  EXPECT_EQ(rounded(-kInfinity), 0xFF80U);
  EXPECT_EQ(rounded(std::numeric_limits<float>::max()), 0x7F80U);
  for (std::uint32_t bits : {0x7F800001U, 0x7FC00000U, 0x7FFFFFFFU, 0xFF800001U, 0xFFFFFFFFU}) {
    EXPECT_TRUE(std::isnan(of_bits(rounded(of_bits(bits)) << 16))) << std::hex << bits;
  }
}

/// Whole vectors and rests, nothing beyond the end; every upper half comes by.
TEST(Bf16, RoundsArraysAsItRoundsOne) {
  std::vector<float> from;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    from.push_back(of_bits((upper << 16) | (upper * 40503U & 0xFFFFU)));
  }
  for (std::int64_t count : {0, 1, 3, 7, 8, 9, 31, 65533}) {
    const auto size = static_cast<std::size_t>(count);
    std::vector<float> floats(size + 1, -7.0F);
    std::vector<std::uint16_t> halves(size + 1, 0x1234);
    const float* start = from.data() + (from.size() - size);
    round_to_bf16(start, count, floats.data());
    round_to_bf16(start, count, halves.data());
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(halves[i], rounded(start[i])) << i;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(floats[i]) >> 16, halves[i]) << i;
    }
    EXPECT_EQ(floats[size], -7.0F);
    EXPECT_EQ(halves[size], 0x1234);
  }
}

}  // namespace
}  // namespace linnet::cpu
