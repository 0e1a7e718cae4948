// SPDX-License-Identifier: Apache-2.0
#include "dist/tree_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "thread_ranks.h"

namespace linnet {
namespace {

using testing::run_ranks;

/// Values of which each order of additions gives another sum.
template <class T>
std::vector<T> values_of(int rank, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(rank) + 1);
  std::uniform_real_distribution<T> mantissa(-1, 1);
  std::vector<T> values(count);
  for (T& value : values) value = std::ldexp(mantissa(random), static_cast<int>(random() % 20));
  return values;
}

/// Leaves [first, first + count) in the fixed binary tree.
template <class T>
std::vector<T> tree(int first, int count, std::size_t length) {
  if (count == 1) return values_of<T>(first, length);
  std::vector<T> left = tree<T>(first, count / 2, length);
  const std::vector<T> right = tree<T>(first + count / 2, count / 2, length);
  for (std::size_t i = 0; i < length; ++i) left[i] = left[i] + right[i];
  return left;
}

template <class T>
void check(int size, std::size_t length) {
  const std::vector<T> expected = tree<T>(0, size, length);
  std::vector<std::vector<T>> sums(static_cast<std::size_t>(size));
  const auto sentences = run_ranks(size, [&](const Ranks& ranks) {
    std::vector<T> values = values_of<T>(ranks.rank(), length);
    RankAccess::group(ranks)->sum(std::span<T>(values), "the test");
    sums[static_cast<std::size_t>(ranks.rank())] = values;
  });
  for (std::size_t r = 0; r < sums.size(); ++r) {
    EXPECT_EQ(sentences[r], "");
    ASSERT_EQ(sums[r].size(), length);
    std::size_t different = 0;
    for (std::size_t i = 0; i < length; ++i) different += sums[r][i] != expected[i] ? 1 : 0;
    EXPECT_EQ(different, 0U) << "of " << length << " on rank " << r << " of " << size;
  }
}

TEST(TreeSum, HasTheBitsOfTheTreeOnEveryRank) {
  for (const int size : {1, 2, 4, 8, 16}) {
    for (const std::size_t length : {1, 7, 2048, 2049, 10007}) {
      check<float>(size, length);
      check<double>(size, length);
    }
  }
}

TEST(TreeSum, SumsMoreThanOnePiece) { check<float>(4, (std::size_t{1} << 20) + 12345); }

TEST(TreeSum, SumsNothing) { check<float>(2, 0); }

}  // namespace
}  // namespace linnet
