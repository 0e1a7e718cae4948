// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fixtures.h"
#include "networks/networks.h"

namespace linnet::testing {
namespace {

Dataset small_images(std::int64_t count) {
  const Dataset digits = datasets::digits(count, 0, 4).train;
  const auto pixels = first_input(digits).as<std::uint8_t>();
  std::vector<std::int32_t> groups = vector_of<std::int32_t>(first_target(digits));
  for (std::int32_t& group : groups) group %= 3;
  return data_of(Tensor::copy(pixels.first(static_cast<std::size_t>(count * 64)), {count, 8, 8, 1}),
                 records(groups));
}

TEST(Reproducible, SharingMemoryChangesNoBit) {
  const Dataset data = small_images(40);
  const std::vector<float> shared = weights_after(every_layer(), data, {});
  for (const PlanOptions& plan : {PlanOptions{.reuse = false, .in_place = false},
                                  PlanOptions{.reuse = true, .in_place = false},
                                  PlanOptions{.reuse = false, .in_place = true}}) {
    EXPECT_EQ(weights_after(every_layer(), data, {.plan = plan}), shared);
  }
}

TEST(Reproducible, NoOperatorReadsWhatNobodyWrote) {
  const Dataset data = small_images(40);
  EXPECT_EQ(weights_after(every_layer(), data, {.checked = true}),
            weights_after(every_layer(), data, {}));
  const Dataset digits = datasets::digits(40, 0, 4).train;
  EXPECT_EQ(weights_after(workloads::mnist_cnn(), digits, {.checked = true}),
            weights_after(workloads::mnist_cnn(), digits, {}));
}

TEST(Reproducible, EqualBitsAtAnyNumberOfThreads) {
  const Dataset data = small_images(40);
  const Dataset digits = datasets::digits(600, 0, 4).train;
  const std::vector<float> one = weights_after(every_layer(), data, {.threads = 1});
  const std::vector<float> cnn =
      weights_after(workloads::mnist_cnn(), digits, {.batch = 128, .threads = 1, .steps = 4});
  for (int threads : {1, 2, 3, 4}) {
    EXPECT_EQ(weights_after(every_layer(), data, {.threads = threads}), one) << threads;
    EXPECT_EQ(weights_after(workloads::mnist_cnn(), digits,
                            {.batch = 128, .threads = threads, .steps = 4}),
              cnn)
        << threads;
  }
}

/// 2,600 samples: a part of the batch has more of them than a chain computes at a time.
TEST(Reproducible, ChainsOfSamplesChangeNoBit) {
  const Dataset digits = datasets::digits(2600, 0, 4).train;
  const auto weights = [&](std::int64_t batch, int threads, bool chains) {
    return weights_after(workloads::mnist_cnn(), digits,
                         {.batch = batch,
                          .threads = threads,
                          .steps = 1,
                          .plan = {.chains = chains},
                          .disabled_passes = known_passes({"fuse_small_cnn"})});
  };
  for (const std::int64_t batch : {3, 128, 2600}) {
    const std::vector<float> alone = weights(batch, 1, false);
    for (const int threads : {1, 3}) {
      EXPECT_EQ(weights(batch, threads, true), alone) << batch << " on " << threads;
    }
  }
}

TEST(Reproducible, SharedStagesChangeNoBit) {
  const auto convolution = [](std::int64_t filters, std::int64_t stride) {
    return Conv2d{.filters = filters,
                  .stride = stride,
                  .padding = Padding2d::same(),
                  .bias = false};
  };
  const auto block = [&](std::int64_t filters, std::int64_t stride) {
    return Residual{.body = {convolution(filters, stride), BatchNorm{}, ReLU{},
                             convolution(filters, 1), BatchNorm{}},
                    .shortcut = {convolution(filters, stride), BatchNorm{}}};
  };
  const Network network({8, 8, 1}, {block(32, 1), ReLU{}, block(64, 2), ReLU{}, block(64, 2),
                                    ReLU{}, Flatten{}, Dense{.units = 3}});
  const Dataset data = small_images(96);
  const auto weights = [&](int threads, bool shared) {
    return weights_after(
        network, data,
        {.batch = 32, .threads = threads, .steps = 3, .plan = {.shared_stages = shared}});
  };
  const std::vector<float> alone = weights(1, false);
  for (const int threads : {1, 3, 4}) EXPECT_EQ(weights(threads, true), alone) << threads;
}

std::vector<double> losses(int threads, std::uint64_t seed, std::int64_t batch) {
  const Splits digits = datasets::digits(300, 50, 5);
  Model model(workloads::mnist_cnn(), {.threads = threads, .seed = seed});
  std::vector<double> result;
  for (const EpochReport& epoch :
       train(model, digits.train, {.epochs = 2, .batch = batch, .seed = seed}, &digits.test)
           .epochs) {
    result.push_back(epoch.train.loss);
    result.push_back(epoch.test.loss);
  }
  return result;
}

TEST(Reproducible, TheSameSeedGivesTheSameRun) {
  const std::vector<double> first = losses(1, 1, 64);
  EXPECT_EQ(losses(1, 1, 64), first);
  EXPECT_EQ(losses(4, 1, 64), first);
  EXPECT_NE(losses(1, 2, 64), first);
}

}  // namespace
}  // namespace linnet::testing
