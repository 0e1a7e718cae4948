// SPDX-License-Identifier: Apache-2.0
// Ranks whose devices exchange gradients by NCCL: a fake one, between simulated devices.
#include <cmath>
#include <utility>

#include "../end_to_end/fixtures.h"
#include "simulated_model.h"
#include "small_trainings.h"
#include "thread_ranks.h"

namespace linnet::testing {
namespace {

struct Left {
  std::vector<float> weights;
  double loss = 0;
};

Left trained_on(const std::string& which, const Ranks& ranks, std::int64_t shards,
                std::int64_t epochs = 2) {
  Model model = model_on(which, small_cnn(), {}, 3);
  Trainer trainer(model, {}, {.seed = 9, .ranks = ranks});
  const History history = trainer.fit(datasets::digits(35, 0, 3).train,
                                      {.epochs = epochs, .batch = 16, .shards = shards});
  return {.weights = all_weights(model), .loss = history.epochs.back().train.loss};
}

/// Each rank has a device of its own, or all have the first one.
std::vector<Left> on_ranks(int size, bool own_devices, RankReduce reduce = RankReduce::tree) {
  std::vector<Left> all(static_cast<std::size_t>(size));
  const auto body = [&](const Ranks& ranks) {
    const std::string which = own_devices ? std::to_string(ranks.rank()) : "0";
    all[static_cast<std::size_t>(ranks.rank())] = trained_on(which, ranks, 4);
  };
  EXPECT_EQ(run_ranks(size, body, {}, reduce),
            std::vector<std::string>(static_cast<std::size_t>(size)));
  return all;
}

class SimulatedRanks : public ::testing::Test {
 protected:
  SimulatedRanks() { cuda::sim::device().count = 4; }

  /// Bytes that went to hosts while `work` ran.
  template <class F>
  static std::size_t downloaded(const F& work) {
    const std::size_t before = cuda::sim::counters().device_to_host.bytes;
    work();
    return cuda::sim::counters().device_to_host.bytes - before;
  }

 private:
  const MachineGuard machine_;
};

TEST_F(SimulatedRanks, GiveTheBitsOfOneDevice) {
  const Left one = trained_on("", {}, 4);
  for (const int size : {2, 4}) {
    for (const Left& left : on_ranks(size, true)) {
      EXPECT_EQ(left.weights, one.weights) << size;
      EXPECT_EQ(left.loss, one.loss);
    }
  }
}

TEST_F(SimulatedRanks, SumWithoutTheHostsWhereEachHasADevice) {
  std::vector<Left> linked;
  std::vector<Left> carried;
  const std::size_t by_links = downloaded([&] { linked = on_ranks(2, true); });
  const std::size_t by_hosts = downloaded([&] { carried = on_ranks(2, false); });
  EXPECT_EQ(linked[0].weights, carried[0].weights);
  // Six steps of two ranks, each with its gradients.
  EXPECT_GT(by_hosts, by_links + 6 * 2 * sizeof(float) * linked[0].weights.size());
}

TEST_F(SimulatedRanks, SumInNcclsOrderWhereThatIsAskedFor) {
  const Left one = trained_on("", {}, 4);
  const std::vector<Left> fast = on_ranks(4, true, RankReduce::fast);
  double difference = 0;
  for (std::size_t i = 0; i < one.weights.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(fast[0].weights[i]) -
                                               static_cast<double>(one.weights[i])));
  }
  EXPECT_GT(difference, 0);
  EXPECT_LT(difference, 1e-4);
  for (const Left& left : fast) EXPECT_EQ(left.weights, fast[0].weights);
}

TEST_F(SimulatedRanks, AreNotWaitedForByNcclWhereTheyEnd) {
  const auto body = [](const Ranks& ranks) {
    trained_on(std::to_string(ranks.rank()), ranks, 4, 50);
  };
  // Rank 2 ends at an exchange of the hosts; rank 0 waits for its device then.
  const auto sentences = run_ranks(4, body, {.kind = RankFault::ends, .rank = 2, .exchange = 30});
  for (const int rank : {0, 1, 3}) {
    const std::string& sentence = sentences[static_cast<std::size_t>(rank)];
    EXPECT_NE(sentence.find("rank 2 ended in "), std::string::npos) << sentence;
  }
}

}  // namespace
}  // namespace linnet::testing
