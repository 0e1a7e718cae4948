// SPDX-License-Identifier: Apache-2.0
// Ranks whose devices exchange gradients by NCCL: a fake one, between simulated devices.
#include <array>
#include <barrier>
#include <cmath>
#include <span>
#include <thread>
#include <utility>

#include "../end_to_end/fixtures.h"
#include "backend/cuda/device.h"
#include "backend/cuda/nccl_links.h"
#include "model/finish.h"
#include "model/shard_layout.h"
#include "runtime/device_ranks.h"
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

/// Each rank has a device of its own.
std::vector<Left> on_ranks(int size, RankReduce reduce = RankReduce::tree) {
  std::vector<Left> all(static_cast<std::size_t>(size));
  const auto body = [&](const Ranks& ranks) {
    all[static_cast<std::size_t>(ranks.rank())] =
        trained_on(std::to_string(ranks.rank()), ranks, 4);
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

/// A thread that has used another device since.
TEST_F(SimulatedRanks, LinksBelongToTheirDevice) {
  const auto linked = std::make_shared<cuda::Device>(cuda::find_device("1"));
  const auto other = std::make_shared<cuda::Device>(cuda::find_device("0"));
  const auto buffer = cuda::allocate(linked, 64);
  other->activate();
  const auto links = cuda::link_by_nccl(linked, 1, {.id = cuda::new_nccl_id()});
  EXPECT_NO_THROW(
      links->run(*buffer,
                 {.parts = {{.own = {0, 32}, .other = {32, 32}}}, .infos = {}, .count = 1}));
}

TEST_F(SimulatedRanks, GiveTheBitsOfOneDevice) {
  const Left one = trained_on("", {}, 4);
  for (const int size : {2, 4}) {
    for (const Left& left : on_ranks(size)) {
      EXPECT_EQ(left.weights, one.weights) << size;
      EXPECT_EQ(left.loss, one.loss);
    }
  }
}

/// Gradients that overflow on one rank are not finite in the sum, so all leave the step out.
TEST_F(SimulatedRanks, ScaleTheLossAlike) {
  const auto train_on = [](const std::string& which, const Ranks& ranks) {
    const Model model = model_on(which, with_dropout(), {}, 3, Precision::fp16);
    Trainer trainer(model, {.output_losses = {{.output = "output", .weight = 100}}},
                    {.seed = 9, .ranks = ranks});
    trainer.fit(datasets::digits(35, 0, 3).train, {.epochs = 3, .batch = 8, .shards = 4});
    return trainer.state();
  };
  const State one = train_on("", {});
  const std::span<const float> scale = one["optimizer/loss_scale"].as<float>();
  EXPECT_LT(scale[0], 65536);
  EXPECT_GT(scale[2], 0);
  EXPECT_GT(scale[1], 0);
  std::array<State, 2> all;
  const auto body = [&](const Ranks& ranks) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    all.at(rank) = train_on(std::to_string(rank), ranks);
  };
  EXPECT_EQ(run_ranks(2, body), std::vector<std::string>(2));
  for (const State& state : all) EXPECT_TRUE(same_bits(state, one));
}

TEST_F(SimulatedRanks, GiveTheBitsOfStepsOneByOne) {
  // 12 full batches and one of 3, of which two ranks' leaves have rows; two leaves on each rank.
  const auto train_on = [](const Ranks& ranks, std::int64_t graph_steps) {
    const std::string which = std::to_string(ranks.rank());
    Model model = model_on(which, with_dropout(), {.graph_steps = graph_steps}, 3);
    Trainer trainer(model, {.clip = {.norm = 0.5}}, {.seed = 9, .ranks = ranks});
    trainer.fit(datasets::digits(12 * 8 + 3, 0, 3).train, {.epochs = 2, .batch = 8, .shards = 4});
    return all_weights(model);
  };
  const std::vector<float> one = train_on({}, CudaOptions::kWholeEpoch);
  for (const std::int64_t graph_steps : {CudaOptions::kWholeEpoch, std::int64_t{3}}) {
    for (const RankReduce reduce : {RankReduce::tree, RankReduce::fast}) {
      std::vector<std::vector<float>> weights(2);
      const auto ended = run_ranks(
          2,
          [&](const Ranks& ranks) {
            weights[static_cast<std::size_t>(ranks.rank())] = train_on(ranks, graph_steps);
          },
          {}, reduce);
      EXPECT_EQ(ended, std::vector<std::string>(2));
      EXPECT_EQ(weights[0], weights[1]);
      if (reduce == RankReduce::tree) {
        EXPECT_EQ(weights[0], one) << graph_steps;
      }
    }
  }
}

struct Summed {
  std::vector<float> sums;  ///< by rank
  std::size_t graph_launches = 0;
};

/// Two devices that have 1 and 2 add what the other one has, in one step and then in `count` more.
Summed summed(std::uint64_t count, const CudaOptions& options) {
  std::vector<float> left(2);
  std::string id;
  std::barrier meet(2, [] { cuda::sim::clear(); });
  const auto body = [&](int rank) {
    Model model = model_on(std::to_string(rank), two_numbers(), options);
    Backend& backend = *model.state().backend;
    const NetworkDefinition& network = model.network().definition();
    const auto add = backend.prepare(add_step(network, 0), {});
    Memory memory;
    for (std::size_t s = 0; s < kStorages; ++s) {
      memory.buffers[s] = backend.allocate(add->plan().bytes[s]);
    }
    add->attach(memory);
    Buffer& buffer = *memory[Storage::gradient];
    const float begin = rank == 0 ? 1 : 2;
    backend.upload(buffer, 0, std::as_bytes(std::span(&begin, 1)));
    const auto& device = dynamic_cast<const LinkedDevice&>(backend);
    if (rank == 0) id = device.new_id();
    meet.arrive_and_wait();
    const auto links = device.link({.rank = rank, .size = 2, .id = id});
    const ShardLayout layout(network);
    LinkedSteps steps{.parts = {{.partner = 1 - rank,
                                 .own = {0, layout.measured},
                                 .other = {layout.level(0), layout.measured}},
                                {.program = add.get()}},
                      .infos = {{}},
                      .count = 1};
    links->run(buffer, steps);
    steps.count = count;
    steps.infos.resize(count);
    meet.arrive_and_wait();
    links->run(buffer, steps);
    float& sum = left[static_cast<std::size_t>(rank)];
    backend.download(buffer, 0, std::as_writable_bytes(std::span(&sum, 1)));
  };
  std::thread other(body, 1);
  body(0);
  other.join();
  return {.sums = left, .graph_launches = cuda::sim::counters().graph_launches};
}

TEST_F(SimulatedRanks, LaunchManyStepsAtOnce) {
  const std::vector<float> sums(2, 3 * std::exp2(10.0F));
  const Summed fours = summed(10, {.graph_steps = 4});
  EXPECT_EQ(fours.sums, sums);
  EXPECT_EQ(fours.graph_launches, 2U * (2 + 2));  // of four steps, and of one, on each device
  const Summed plain = summed(10, {.graph_steps = 0});
  EXPECT_EQ(plain.sums, sums);
  EXPECT_EQ(plain.graph_launches, 0U);
  EXPECT_EQ(summed(10, {.graph_steps = 1}).graph_launches, 2U * 10);
  EXPECT_EQ(summed(33, {}).graph_launches, 2U * (2 + 1));  // 16 steps each
}

TEST_F(SimulatedRanks, SumWithoutTheHostsWhereEachHasADevice) {
  // A fit looks at its counters from time to time, single steps do not.
  const auto step_on = [](bool own_devices) {
    std::vector<std::vector<float>> weights(2);
    const auto body = [&](const Ranks& ranks) {
      Model model = model_on(own_devices ? std::to_string(ranks.rank()) : "0", small_cnn(), {}, 3);
      Trainer trainer(model, {}, {.ranks = ranks});
      const Dataset data = datasets::digits(35, 0, 3).train;
      for (const Batch& batch : trainer.batches(data, {.size = 16, .shards = 4})) {
        trainer.step(batch);
      }
      weights[static_cast<std::size_t>(ranks.rank())] = all_weights(model);
    };
    EXPECT_EQ(run_ranks(2, body), std::vector<std::string>(2));
    EXPECT_EQ(weights[0], weights[1]);
    return weights[0];
  };
  std::vector<float> linked;
  std::vector<float> carried;
  const std::size_t by_links = downloaded([&] { linked = step_on(true); });
  const std::size_t by_hosts = downloaded([&] { carried = step_on(false); });
  EXPECT_EQ(linked, carried);
  // Three steps of two ranks, each with its gradients.
  EXPECT_GE(by_hosts, by_links + std::size_t{3} * 2 * sizeof(float) * linked.size());
}

TEST_F(SimulatedRanks, SumInNcclsOrderWhereThatIsAskedFor) {
  const Left one = trained_on("", {}, 4);
  const std::vector<Left> fast = on_ranks(4, RankReduce::fast);
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
