// SPDX-License-Identifier: Apache-2.0
#include <linnet/datasets.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "data/contents.h"
#include "data/data_files.h"
#include "datasets/digit_strokes.h"

namespace linnet::test {
namespace {

constexpr std::size_t kPixels = 28 * 28;

std::span<const std::uint8_t> image(const Dataset& data, std::size_t i) {
  return data.inputs()[0].data.as<std::uint8_t>().subspan(i * kPixels, kPixels);
}

std::int64_t squared_distance(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::int64_t gap = a[i] - b[i];
    sum += gap * gap;
  }
  return sum;
}

TEST(Digits, HasTheShapeAndNamesOfMnist) {
  const Splits pair = datasets::digits(30, 20, 1);
  EXPECT_EQ(pair.train.info().name, "digits");
  EXPECT_EQ(pair.train.size(), 30);
  EXPECT_EQ(pair.test.size(), 20);
  EXPECT_EQ(sample_shape(pair.test), (Shape{28, 28, 1}));
  EXPECT_EQ(pair.test.classes()[9], "9");
  EXPECT_NO_THROW(pair.train.check_labels());
  EXPECT_NO_THROW(pair.test.check_labels());
}

TEST(Digits, AreAFunctionOfTheSeed) {
  const Splits first = datasets::digits(40, 10, 7);
  const Splits again = datasets::digits(20, 10, 7);
  EXPECT_EQ(bytes(again.train), bytes(first.train.rows(0, 20)));
  EXPECT_EQ(bytes(again.test), bytes(first.test));
  EXPECT_EQ(labels(again.test), labels(first.test));
  EXPECT_NE(bytes(datasets::digits(40, 10, 8).train), bytes(first.train));
}

TEST(Digits, NoImageComesTwice) {
  const Splits pair = datasets::digits(100, 100, 3);
  for (std::size_t i = 0; i < 100; ++i) {
    for (std::size_t j = 0; j < 100; ++j) {
      EXPECT_GT(squared_distance(image(pair.train, i), image(pair.test, j)), 0);
      if (i == j) continue;
      EXPECT_GT(squared_distance(image(pair.train, i), image(pair.train, j)), 0);
    }
  }
}

TEST(Digits, AllClassesAreAboutAsFrequent) {
  const Dataset data = datasets::digits(2000, 0, 5).train;
  std::array<int, 10> counts{};
  for (const std::int32_t label : labels(data)) ++counts[static_cast<std::size_t>(label)];
  for (const int count : counts) EXPECT_NEAR(count, 200, 70);
}

TEST(Digits, StayInsideTheirFrame) {
  const Dataset data = datasets::digits(500, 0, 11).train;
  std::int64_t rim = 0;
  std::int64_t all = 0;
  const std::vector<std::uint8_t> pixels = bytes(data);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::size_t y = i % kPixels / 28;
    const std::size_t x = i % 28;
    all += pixels[i];
    if (x == 0 || y == 0 || x == 27 || y == 27) rim += pixels[i];
  }
  // An even spread would put 14 % there; noise alone makes the rim brighter than nothing.
  EXPECT_LT(rim * 33, all);
}

// The label says what is drawn: the nearest of 2,000 drawings has the same label nearly always,
// yet not always, or there would be nothing to learn.
TEST(Digits, NeighboursShareTheirLabel) {
  const Splits pair = datasets::digits(2000, 300, 13);
  const std::vector<std::int32_t> train_labels = labels(pair.train);
  int right = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    std::int32_t guess = -1;
    for (std::size_t j = 0; j < 2000; ++j) {
      const std::int64_t gap = squared_distance(image(pair.test, i), image(pair.train, j));
      if (gap < best) {
        best = gap;
        guess = train_labels[j];
      }
    }
    right += guess == labels(pair.test)[i];
  }
  EXPECT_GT(right, 255);
  EXPECT_LT(right, 300);
}

TEST(Digits, EveryDigitHasFormsInItsBox) {
  for (int digit = 0; digit < 10; ++digit) {
    ASSERT_FALSE(digit_forms(digit).empty());
    for (const auto& form : digit_forms(digit)) {
      ASSERT_FALSE(form.empty());
      for (const Stroke& stroke : form) {
        ASSERT_GE(stroke.size(), 2U);
        for (const StrokePoint p : stroke) {
          EXPECT_TRUE(p.x > -0.01F && p.x < 1.01F && p.y > -0.01F && p.y < 1.01F)
              << digit << ": " << p.x << ", " << p.y;
        }
      }
    }
  }
}

TEST(Digits, RefusesANumberThatMakesNoSense) {
  EXPECT_EQ(error_of([] { datasets::digits(-1, 1, 1); }),
            "digits: the number of images must lie in [0, 10000000]; got -1");
  EXPECT_EQ(datasets::digits(0, 0, 1).test.size(), 0);
}

}  // namespace
}  // namespace linnet::test
