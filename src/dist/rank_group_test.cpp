// SPDX-License-Identifier: Apache-2.0
#include "dist/rank_group.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "thread_ranks.h"

namespace linnet {
namespace {

using testing::RankFault;
using testing::run_ranks;

const std::vector<std::string> kNone4(4);

TEST(RankGroup, GivesAllRanksTheFirstOnesBytes) {
  for (const int size : {2, 4, 8}) {
    const auto sentences = run_ranks(size, [&](const Ranks& ranks) {
      std::vector<std::uint32_t> values(3, static_cast<std::uint32_t>(ranks.rank()) + 7);
      RankGroup& group = *RankAccess::group(ranks);
      group.broadcast(std::as_writable_bytes(std::span(values)), "the weights");
      EXPECT_EQ(values, std::vector<std::uint32_t>(3, 7));
      const std::string text(static_cast<std::size_t>(ranks.rank()) * 3, 'x');
      EXPECT_EQ(group.broadcast(ranks.rank() == 0 ? "engines" : text, "the choices"), "engines");
    });
    EXPECT_EQ(sentences, std::vector<std::string>(static_cast<std::size_t>(size)));
  }
}

TEST(RankGroup, GathersTextsInTheOrderOfRanks) {
  EXPECT_EQ(kNone4, run_ranks(4, [](const Ranks& ranks) {
              const std::string text(static_cast<std::size_t>(ranks.rank()), 'a');
              const std::vector<std::string> expected{"", "a", "aa", "aaa"};
              EXPECT_EQ(RankAccess::group(ranks)->gather(text, "names"), expected);
            }));
}

TEST(RankGroup, KnowsWhetherAnyRankStops) {
  EXPECT_EQ(kNone4, run_ranks(4, [](const Ranks& ranks) {
              RankGroup& group = *RankAccess::group(ranks);
              EXPECT_TRUE(group.any(ranks.rank() == 2, "stops"));
              EXPECT_FALSE(group.any(false, "stops"));
              EXPECT_EQ(group.max(static_cast<std::uint64_t>(ranks.rank() ^ 1), "max"), 3U);
            }));
}

TEST(RankGroup, SumsInTheOrderThatIsAskedFor) {
  // In the tree (1 + -1) + (2^-30 + 0); the engine of the tests begins with the last rank.
  const std::vector<float> values{1, -1, 0x1p-30F, 0};
  for (const RankReduce reduce : {RankReduce::tree, RankReduce::fast}) {
    const auto body = [&](const Ranks& ranks) {
      RankGroup& group = *RankAccess::group(ranks);
      std::vector<float> sum(5000, values[static_cast<std::size_t>(ranks.rank())]);
      group.sum(std::span(sum), "the sum");
      EXPECT_EQ(sum, std::vector<float>(5000, reduce == RankReduce::tree ? 0x1p-30F : 0.0F));
      std::vector<double> small(3, ranks.rank());
      group.sum(std::span(small), "the counters");
      EXPECT_EQ(small, std::vector<double>(3, 6));
    };
    EXPECT_EQ(kNone4, run_ranks(4, body, {}, reduce));
  }
}

TEST(RankGroup, NamesTheSettingThatDiffersOnEveryRank) {
  const auto sentences = run_ranks(4, [](const Ranks& ranks) {
    std::map<std::string, std::string> settings{{"batch", "128"}, {"seed", "1"}};
    RankGroup& group = *RankAccess::group(ranks);
    group.check_equal(settings, "the start");
    if (ranks.rank() == 2) settings["batch"] = "64";
    group.check_equal(settings, "the start");
  });
  const std::string sentence = "batch differs between ranks: 128 on rank 0, 64 on rank 2";
  EXPECT_EQ(sentences, std::vector<std::string>(4, sentence));
}

TEST(RankGroup, NamesASettingThatOneRankAloneHas) {
  const auto sentences = run_ranks(2, [](const Ranks& ranks) {
    std::map<std::string, std::string> settings;
    if (ranks.rank() == 1) settings["mix_up"] = "0.2";
    RankAccess::group(ranks)->check_equal(settings, "the start");
  });
  const std::string sentence = "mix_up differs between ranks: none on rank 0, 0.2 on rank 1";
  EXPECT_EQ(sentences, std::vector<std::string>(2, sentence));
}

std::vector<std::string> sums_with(RankFault fault) {
  return run_ranks(
      4,
      [](const Ranks& ranks) {
        std::vector<float> values(10007, 1);
        for (int step = 1; step <= 3; ++step) {
          RankAccess::group(ranks)->sum(std::span(values),
                                        fmt::format("the sum of gradients at step {}", step));
        }
      },
      fault);
}

TEST(RankGroup, NamesARankThatEnds) {
  const auto sentences = sums_with({RankFault::ends, 2, 5});  // four exchanges a step
  EXPECT_EQ(sentences[2], "killed");
  const std::string begin = "rank 2 ended in the sum of gradients at step ";
  for (const std::size_t rank : {0, 1, 3}) {
    EXPECT_EQ(sentences[rank].substr(0, begin.size()), begin);
  }
}

TEST(RankGroup, NamesARankThatStopsNotItsPartner) {
  for (int exchange = 0; exchange < 12; ++exchange) {
    const auto sentences = sums_with({RankFault::stops, 2, exchange});
    const std::string begin = "rank 2 did not answer for 10 s in the sum of gradients at step ";
    for (const int rank : {0, 1, 3}) {
      const std::string& sentence = sentences[static_cast<std::size_t>(rank)];
      // A rank whose last exchange needs nobody that waits for rank 2 has its sums.
      if (exchange >= 10 && sentence.empty()) continue;
      EXPECT_EQ(sentence.substr(0, begin.size()), begin) << "exchange " << exchange;
    }
  }
}

TEST(RankGroup, NamesARankThatIsCutOff) {
  const auto sentences = sums_with({RankFault::cut, 1, 4});
  const std::string how = " did not answer for 10 s in the sum of gradients at step 2";
  for (const std::size_t rank : {0, 2, 3}) EXPECT_EQ(sentences[rank], "rank 1" + how);
  // It sees one of those that it cannot reach.
  EXPECT_TRUE(sentences[1] == "rank 0" + how || sentences[1] == "rank 3" + how) << sentences[1];
}

TEST(RankGroup, PassesOnWhyARankLeaves) {
  const auto sentences = run_ranks(2, [](const Ranks& ranks) {
    if (ranks.rank() == 1) throw DataError("cannot read b.png");
    RankAccess::group(ranks)->any(false, "the start");
  });
  EXPECT_EQ(sentences[0], "rank 1 ended (cannot read b.png) in the start");
}

TEST(RankGroup, RefusesThreeRanks) {
  for (const std::string& sentence : run_ranks(3, [](const Ranks&) {})) {
    EXPECT_EQ(sentence, "expected a power of two as the number of ranks; got 3");
  }
}

TEST(Ranks, AreThisProcessAloneByDefault) {
  const Ranks ranks;
  EXPECT_EQ(ranks.rank(), 0);
  EXPECT_EQ(ranks.size(), 1);
  EXPECT_EQ(ranks.engine(), "none");
  EXPECT_EQ(RankAccess::group(ranks), nullptr);
  ranks.leave("nothing");
}

}  // namespace
}  // namespace linnet
