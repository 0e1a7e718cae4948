// SPDX-License-Identifier: Apache-2.0
#include "dist/background_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "thread_ranks.h"

namespace linnet {
namespace {

using testing::RankFault;
using testing::run_ranks;

TEST(BackgroundSum, SumsAllArraysInTheirOrder) {
  const std::vector<std::string> none(4);
  EXPECT_EQ(none, run_ranks(4, [](const Ranks& ranks) {
              BackgroundSum background(*RankAccess::group(ranks));
              for (int step = 1; step <= 3; ++step) {
                std::vector<std::vector<float>> arrays;
                for (std::size_t i = 0; i < 20; ++i) {
                  arrays.emplace_back(1000 * i, static_cast<float>((ranks.rank() + 1) * step));
                }
                for (std::vector<float>& array : arrays) background.begin(array, "the test");
                background.finish();
                for (const std::vector<float>& array : arrays) {
                  const auto sum = static_cast<float>(10 * step);
                  EXPECT_EQ(std::ranges::count(array, sum), std::ssize(array));
                }
              }
            }));
}

TEST(BackgroundSum, NamesARankThatIsLost) {
  const auto sentences = run_ranks(4,
                                   [](const Ranks& ranks) {
                                     BackgroundSum background(*RankAccess::group(ranks));
                                     std::vector<float> first(5000, 1);
                                     std::vector<float> second(5000, 1);
                                     background.begin(first, "the first sum");
                                     background.begin(second, "the second sum");
                                     background.finish();
                                   },
                                   {RankFault::ends, 2, 5});
  EXPECT_EQ(sentences[2], "killed");
  for (const std::size_t rank : {0, 1, 3}) {
    EXPECT_EQ(sentences[rank].substr(0, 19), "rank 2 ended in the") << sentences[rank];
  }
}

TEST(BackgroundSum, EndsWithoutWork) {
  const std::vector<std::string> none(2);
  EXPECT_EQ(none, run_ranks(2, [](const Ranks& ranks) {
              BackgroundSum background(*RankAccess::group(ranks));
              background.finish();
            }));
}

}  // namespace
}  // namespace linnet
