// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace linnet {
namespace {

using Words = std::array<std::uint32_t, 4>;

std::vector<std::uint64_t> image(const Permutation& permutation, std::uint64_t size) {
  std::vector<std::uint64_t> values;
  for (std::uint64_t i = 0; i < size; ++i) values.push_back(permutation(i));
  return values;
}

bool is_bijection(std::vector<std::uint64_t> values) {
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != i) return false;
  }
  return true;
}

// The known answers of the paper's library, Random123 (philox4x32, 10 rounds).
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(philox(0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint64_t ones = ~std::uint64_t{0};
  EXPECT_EQ(philox(ones, ones, ones), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Philox, DependsOnEveryBitOfKeyAndCounter) {
  std::set<Words> seen{philox(5, 6, 7)};
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t flip = std::uint64_t{1} << bit;
    seen.insert(philox(5 ^ flip, 6, 7));
    seen.insert(philox(5, 6 ^ flip, 7));
    seen.insert(philox(5, 6, 7 ^ flip));
  }
  EXPECT_EQ(seen.size(), 1U + 3 * 64);
}

TEST(RandomKey, DiffersByEveryPart) {
  std::set<std::uint64_t> keys;
  for (std::uint64_t seed : {0U, 1U, 2U}) {
    for (RandomStream stream : {RandomStream::shuffle, RandomStream::split,
                                RandomStream::initializer, RandomStream::dropout}) {
      for (std::uint64_t a = 0; a < 10; ++a) {
        for (std::uint64_t b = 0; b < 10; ++b) keys.insert(random_key(seed, stream, a, b));
      }
    }
  }
  EXPECT_EQ(keys.size(), 3U * 4 * 10 * 10);
}

TEST(UnitFloat, IsInZeroToOne) {
  EXPECT_EQ(unit_float(0), 0.0F);
  EXPECT_EQ(unit_float(0x80000000U), 0.5F);
  EXPECT_LT(unit_float(0xFFFFFFFFU), 1.0F);
}

TEST(NormalPair, IsFiniteAtTheEnds) {
  for (std::uint32_t first : {0U, 0xFFFFFFFFU}) {
    for (std::uint32_t second : {0U, 0xFFFFFFFFU}) {
      for (float x : normal_pair(first, second)) EXPECT_TRUE(std::isfinite(x));
    }
  }
}

// With 400,000 numbers a standard error of the mean is 0.0016, of the variance 0.0022, of the
// fourth moment 0.0155; five of them are allowed.
TEST(NormalPair, HasTheMomentsOfANormalNumber) {
  constexpr int kPairs = 200'000;
  double sum = 0;
  double squares = 0;
  double cubes = 0;
  double fourths = 0;
  double products = 0;
  for (std::uint64_t i = 0; i < kPairs; ++i) {
    const Words words = philox(11, i, 0);
    const std::array<float, 2> pair = normal_pair(words[0], words[1]);
    for (double x : pair) {
      sum += x;
      squares += x * x;
      cubes += x * x * x;
      fourths += x * x * x * x;
    }
    products += static_cast<double>(pair[0]) * static_cast<double>(pair[1]);
  }
  constexpr double kCount = 2.0 * kPairs;
  EXPECT_NEAR(sum / kCount, 0, 0.008);
  EXPECT_NEAR(squares / kCount, 1, 0.011);
  EXPECT_NEAR(cubes / kCount, 0, 0.031);  // the standard error is sqrt(15 / count)
  EXPECT_NEAR(fourths / kCount, 3, 0.078);
  EXPECT_NEAR(products / kPairs, 0, 0.0112);
}

TEST(Permutation, IsABijectionOfEverySmallSize) {
  for (std::uint64_t size = 1; size <= 300; ++size) {
    for (std::uint64_t key : {0U, 1U, 12345U}) {
      EXPECT_TRUE(is_bijection(image(Permutation(key, size), size))) << size << ", key " << key;
    }
  }
}

TEST(Permutation, IsABijectionOfLargeSizes) {
  for (std::uint64_t size : {4095U, 4096U, 4097U, 60'000U, 65'536U, 65'537U, 1'000'003U}) {
    EXPECT_TRUE(is_bijection(image(Permutation(77, size), size))) << size;
  }
}

TEST(Permutation, StaysInsideSizesBeyond32Bits) {
  const std::uint64_t size = (std::uint64_t{1} << 40) + 5;
  const Permutation permutation(3, size);
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    seen.insert(permutation(size - 1 - i));
    EXPECT_LT(permutation(size - 1 - i), size);
  }
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(Permutation, DiffersByKeyAndFromTheIdentity) {
  constexpr std::uint64_t kSize = 1000;
  const std::vector<std::uint64_t> first = image(Permutation(1, kSize), kSize);
  const std::vector<std::uint64_t> second = image(Permutation(2, kSize), kSize);
  EXPECT_EQ(first, image(Permutation(1, kSize), kSize));
  int same = 0;
  int fixed = 0;
  for (std::uint64_t i = 0; i < kSize; ++i) {
    same += first[i] == second[i] ? 1 : 0;
    fixed += first[i] == i ? 1 : 0;
  }
  EXPECT_LT(same, 10);  // about one is expected of two independent permutations
  EXPECT_LT(fixed, 10);
}

// A shuffle that kept neighbours together would make batches alike.
TEST(Permutation, DoesNotKeepNeighboursTogether) {
  constexpr std::uint64_t kSize = 10'000;
  const Permutation permutation(9, kSize);
  double distance = 0;
  for (std::uint64_t i = 0; i + 1 < kSize; ++i) {
    distance +=
        std::abs(static_cast<double>(permutation(i)) - static_cast<double>(permutation(i + 1)));
  }
  // Two random places of [0, 1) are 1/3 apart on average; the standard error is 0.0024 here.
  EXPECT_NEAR(distance / (kSize - 1) / kSize, 1.0 / 3, 0.012);
}

}  // namespace
}  // namespace linnet
