// SPDX-License-Identifier: Apache-2.0
// What is planned before anything runs, and trainings that stay within a limit.
#include <gtest/gtest.h>
#include <linnet/inspect.h>

#include "fixtures.h"
#include "message_of.h"
#include "needed_passes.h"
#include "networks/networks.h"
#include "pixels.h"

namespace linnet::testing {
namespace {

/// As mnist-cnn, with a number of filters for which no processor has one operator for all of it.
Network digit_cnn() {
  return Network({28, 28, 1}, {Rescale{}, Conv2d{.filters = 8, .padding = Padding2d::same()},
                               ReLU{}, MaxPool2d{}, Flatten{}, Dense{.units = 10}});
}

TrainingOptions options_of(std::int64_t batch, std::int64_t shards = 0) {
  return {.epochs = 1, .batch = batch, .shards = shards};
}

TEST(MemoryLimit, AFitTakesTheFewestShardsThatStayWithinIt) {
  const Dataset data = datasets::digits(256, 0, 1).train;
  const auto planned = [&](std::int64_t shards) {
    Model model(digit_cnn(), {.device = "cpu", .threads = 1, .seed = 2});
    return train(model, data, options_of(128, shards)).planned_bytes;
  };
  const std::size_t four = planned(4);
  EXPECT_GT(planned(2), four);
  TrainingOptions options = options_of(128);
  options.memory_limit = four;
  Model model(digit_cnn(), {.device = "cpu", .threads = 1, .seed = 2});
  const History history = train(model, data, options);
  EXPECT_EQ(history.shards, 4);  // nothing of this network is recomputed
  EXPECT_EQ(history.planned_bytes, four);
  ASSERT_FALSE(history.notes.empty());
  EXPECT_NE(history.notes[0].find("in 4 shards of at most 32 samples"), std::string::npos)
      << history.notes[0];
  EXPECT_NE(history.notes[0].find("; predicted: a step takes "), std::string::npos)
      << history.notes[0];

  Model sharded(digit_cnn(), {.device = "cpu", .threads = 1, .seed = 2});
  train(sharded, data, options_of(128, 4));
  EXPECT_EQ(all_weights(sharded), all_weights(model));
}

TEST(MemoryLimit, ASetMayBeSmallerThanTheBatch) {
  const Dataset data = datasets::digits(64, 0, 1).train;
  TrainingOptions options = options_of(128);
  options.memory_limit = std::size_t{1} << 40;
  Model model(digit_cnn(), {.device = "cpu", .threads = 1, .seed = 2});
  EXPECT_EQ(train(model, data, options).shards, 1);
}

TEST(MemoryLimit, PartsSideBySideAreAllPlanned) {
  const Dataset data = datasets::digits(128, 0, 1).train;
  const auto planned = [&](const TrainingOptions& options) {
    Model model(digit_cnn(), {.device = "cpu", .threads = 1, .seed = 2});
    return train(model, data, options).planned_bytes;
  };
  TrainingOptions options = options_of(128, 4);
  const std::size_t sequence = planned(options);
  options.side_by_side = true;
  const std::size_t all = planned(options);
  const MemoryPlan plan = summarize(digit_cnn(), 128, options).training;
  EXPECT_GT(all, sequence + 2 * plan.activations / 4);
  const auto told = static_cast<double>(plan.total() - plan.data);
  EXPECT_NEAR(static_cast<double>(all), told, 0.02 * told);
}

TEST(MemoryLimit, WhatCannotFitNamesTheSmallestLimit) {
  const Dataset data = datasets::digits(64, 0, 1).train;
  TrainingOptions options = options_of(64);
  options.memory_limit = 1000;
  Model model(digit_cnn(), {.device = "cpu", .threads = 1});
  const std::string message = message_of([&] { train(model, data, options); });
  EXPECT_EQ(message.find("this training needs at least "), 0U) << message;
  EXPECT_NE(message.find("the memory limit is 1000 bytes"), std::string::npos) << message;
}

TEST(MemoryLimit, AGivenNumberOfShardsIsKept) {
  const Dataset data = datasets::digits(64, 0, 1).train;
  TrainingOptions options = options_of(64, 1);
  options.memory_limit = summarize(digit_cnn(), 64, options_of(64, 2)).training.total();
  Model model(digit_cnn(), {.device = "cpu", .threads = 1});
  EXPECT_THROW(train(model, data, options), Error);
}

TEST(MemoryLimit, ShardsOfOneSampleAreNoneForABatchNorm) {
  const Network network({2}, {Dense{.units = 8}, BatchNorm{}, Dense{.units = 2}});
  const std::string message = message_of([&] {
    Model model(network, {.device = "cpu"});
    train(model, circle_data(8), {.batch = 8, .shards = 8});
  });
  EXPECT_NE(message.find("8 shards of batches of 8 samples"), std::string::npos) << message;
}

/// Blocks of a DenseNet and a ResNet, small.
Network with_blocks() {
  FunctionalNetwork functional;
  Expression x = functional.input("x", {8, 8, 1}) | Rescale{} | Conv2d{.filters = 8};
  const auto block = [](const Expression& in) {
    return in | BatchNorm{} | ReLU{} | Conv2d{.filters = 8, .padding = Padding2d::same()};
  };
  for (int i = 0; i < 4; ++i) x = concat({x, block(x)}, 2);
  for (int i = 0; i < 5; ++i) {  // every second one is computed again twice
    const Expression inner =
        x | Conv2d{.filters = 16, .padding = Padding2d::same()} | BatchNorm{} | ReLU{};
    const Expression outer = inner | Conv2d{.filters = 40, .padding = Padding2d::same()};
    x = ((outer | BatchNorm{}) + x) | ReLU{};
  }
  return functional.build({{"y", x | GlobalAvgPool2d{} | Dense{.units = 5}}});
}

/// What a training leaves, and the bytes that it planned.
std::pair<std::vector<float>, std::size_t> trained(const Network& network,
                                                   const TrainingOptions& options,
                                                   bool has_norms = true) {
  Model model(network, {.device = "cpu", .threads = 2, .seed = 3});
  const History history = train(model, pixels(20), options);
  std::vector<float> left = all_weights(model);
  if (has_norms) {
    const std::vector<float> mean = parameter(model, "batch_norm_3.running_mean");
    left.insert(left.end(), mean.begin(), mean.end());
  }
  left.push_back(static_cast<float>(history.epochs.back().train.loss));
  return {left, history.planned_bytes};
}

TEST(TrainingPasses, GiveTheSameBitsInLessMemory) {
  LINNET_NEEDS_PASSES("fuse_batch_norm");
  // Without the second, the third does as much for some of these.
  const std::vector<std::string> none{"recompute_norms", "share_concats", "slice_concats"};
  for (const std::int64_t shards : {1, 2}) {
    TrainingOptions options = options_of(8, shards);
    options.epochs = 2;
    const auto all = trained(with_blocks(), options);
    for (const std::vector<std::string>& disabled :
         {std::vector{none[0]}, std::vector{none[1], none[2]}, none}) {
      options.disabled_passes = disabled;
      const auto without = trained(with_blocks(), options);
      EXPECT_EQ(all.first, without.first) << shards << " shards without " << disabled[0];
      EXPECT_LT(all.second, without.second) << shards << " shards without " << disabled[0];
    }
  }
}

/// A U-Net of three levels, whose convolutions have batch norms or not.
Network with_skips(bool norms) {
  FunctionalNetwork functional;
  const auto convolved = [&](const Expression& in, std::int64_t filters) {
    const Expression out = in | Conv2d{.filters = filters, .padding = Padding2d::same()};
    return (norms ? out | BatchNorm{} : out) | ReLU{};
  };
  const Expression image = functional.input("x", {8, 8, 1}) | Rescale{};
  const Expression fine = convolved(resize2d(image, {32, 32}), 16);
  const Expression middle = convolved(fine | MaxPool2d{}, 16);
  const Expression coarse = convolved(middle | MaxPool2d{}, 16);
  const Expression up = convolved(concat({resize2d(coarse, {16, 16}), middle}, -1), 16);
  const Expression top = convolved(concat({resize2d(up, {32, 32}), fine}, -1), 16);
  return functional.build({{"y", top | GlobalAvgPool2d{} | Dense{.units = 5}}});
}

TEST(TrainingPasses, AUNetKeepsItsSkipsOnce) {
  LINNET_NEEDS_PASSES("fuse_batch_norm");
  for (const bool norms : {false, true}) {
    TrainingOptions options = options_of(8);
    options.epochs = 2;
    const auto all = trained(with_skips(norms), options, norms);
    options.disabled_passes = {norms ? "recompute_norms" : "slice_concats"};
    const auto without = trained(with_skips(norms), options, norms);
    EXPECT_EQ(all.first, without.first) << norms;
    EXPECT_LT(all.second, without.second) << norms;
  }
}

/// Activations that are no ReLU, and a concatenation by itself.
Network with_branches() {
  FunctionalNetwork functional;
  Expression x = functional.input("x", {8, 8, 1}) | Rescale{} | Conv2d{.filters = 8};
  const auto branch = [](const Expression& in) {
    return in | Conv2d{.filters = 16, .padding = Padding2d::same()} | BatchNorm{} | GELU{};
  };
  for (int i = 0; i < 6; ++i) x = concat({branch(x), branch(x)}, 2);
  return functional.build({{"y", x | GlobalAvgPool2d{} | Dense{.units = 5}}});
}

TEST(Recompute, GivesTheSameBitsInLessMemory) {
  for (const std::int64_t shards : {1, 2}) {
    TrainingOptions options = options_of(8, shards);
    const auto plain = trained(with_branches(), options);
    options.recompute = true;
    const auto again = trained(with_branches(), options);
    EXPECT_EQ(again.first, plain.first) << shards;
    EXPECT_LT(again.second, plain.second) << shards;
  }
}

TEST(Recompute, ComesBeforeShards) {
  TrainingOptions options = options_of(16);
  options.recompute = true;
  const auto fit = [&](const TrainingOptions& how) {
    Model model(with_branches(), {.device = "cpu", .threads = 1, .seed = 3});
    return train(model, pixels(32), how);
  };
  const std::size_t needed = fit(options).planned_bytes;
  options.recompute = false;
  options.memory_limit = needed;
  const History history = fit(options);
  EXPECT_EQ(history.shards, 1);
  EXPECT_EQ(history.planned_bytes, needed);
  EXPECT_NE(history.notes.at(0).find("partly recomputed"), std::string::npos) << history.notes[0];
}

TEST(MaxBatch, IsTheLargestThatASummaryAllows) {
  const Network network = digit_cnn();
  for (const bool training : {true, false}) {
    const MaxBatchOptions limit{.memory_limit = std::size_t{64} << 20, .training = training};
    const MaxBatch found = max_batch(network, limit);
    const auto needed = [&](std::int64_t batch) {
      const NetworkSummary summary = summarize(network, batch, options_of(batch));
      return (training ? summary.training : summary.prediction).total();
    };
    EXPECT_EQ(found.memory.total(), needed(found.batch));
    EXPECT_LE(needed(found.batch), limit.memory_limit);
    EXPECT_GT(needed(found.batch + 1), limit.memory_limit);
  }
}

TEST(MaxBatch, WithShardsTheDataBoundItAndStreamedNothing) {
  const Network network = digit_cnn();
  MaxBatchOptions limit{.memory_limit = std::size_t{32} << 20};
  const std::int64_t whole = max_batch(network, limit).batch;
  limit.shards = true;
  const MaxBatch parts = max_batch(network, limit);
  EXPECT_GT(parts.batch, 10 * whole);
  EXPECT_GT(parts.memory.data, limit.memory_limit / 2);
  limit.stream = true;
  limit.memory_limit = std::size_t{256} << 20;
  EXPECT_GT(max_batch(network, limit).batch, 100 * whole);
  limit.memory_limit = 1000;
  EXPECT_EQ(max_batch(network, limit).batch, 0);
}

}  // namespace
}  // namespace linnet::testing
