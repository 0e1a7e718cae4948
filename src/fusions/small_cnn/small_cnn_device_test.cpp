// SPDX-License-Identifier: Apache-2.0
// mnist-cnn as two fused launches learns what the CPU learns, and the same bits in any order.
#include <cstdint>

#include "cuda_backend/cuda_model.h"
#include "end_to_end/needed_passes.h"
#include "message_of.h"
#include "networks/networks.h"

namespace linnet::testing {
namespace {

TEST(FusedSmallCnn, TrainsLikeTheCpu) {
  const MachineGuard machine;
  const Splits digits = datasets::digits(20, 6, 3);  // two full batches and a rest
  const TrainingOptions options{.epochs = 2, .batch = 8, .optimizer = Adam{.learning_rate = 1e-2}};
  Model cpu(workloads::mnist_cnn(), {.device = "cpu", .seed = 5});
  Model cuda = cuda_model(workloads::mnist_cnn(), {}, 5);
  const History expected = train(cpu, digits.train, options, &digits.test);
  const History actual = train(cuda, digits.train, options, &digits.test);
  ASSERT_EQ(actual.epochs.size(), expected.epochs.size());
  for (std::size_t e = 0; e < expected.epochs.size(); ++e) {
    EXPECT_NEAR(actual.epochs[e].train.loss, expected.epochs[e].train.loss, 1e-5);
    EXPECT_NEAR(actual.epochs[e].test.loss, expected.epochs[e].test.loss, 1e-5);
    EXPECT_EQ(actual.epochs[e].train.accuracy, expected.epochs[e].train.accuracy);
    EXPECT_EQ(actual.epochs[e].test.accuracy, expected.epochs[e].test.accuracy);
  }
}

/// Threads and blocks in any order: a missing barrier would show.
TEST(FusedSmallCnn, GivesTheSameBitsInAnyOrderOfThreads) {
  const MachineGuard machine;
  const Dataset digits = datasets::digits(12, 0, 3).train;
  const auto learned = [&](std::uint64_t seed) {
    reorder_threads(seed);
    Model model = cuda_model(workloads::mnist_cnn(), {}, 5);
    train(model, digits, {.epochs = 2, .batch = 6});
    return all_weights(model);
  };
  const std::vector<float> in_order = learned(0);
  EXPECT_EQ(learned(1), in_order);
  EXPECT_EQ(learned(2), in_order);
}

/// The second launch finds what is not finite, so that the third changes nothing.
TEST(FusedSmallCnn, StopsBeforeSomethingNotFiniteHarmsAWeight) {
  LINNET_NEEDS_PASSES("fuse_epilogue", "fuse_gather_scale", "fuse_softmax_cross_entropy");
  const MachineGuard machine;
  const Dataset digits = datasets::digits(24, 0, 3).train;
  Objective objective;
  objective.optimizer = SGD{.learning_rate = 1e30};
  const auto trainer = [&] {
    return Trainer(cuda_model(workloads::mnist_cnn(), {}, 5), objective, {.seed = 3});
  };
  Trainer good = trainer();
  good.step(*good.batches(digits, {.size = 8}).begin()).loss();
  Trainer stopped = trainer();
  const std::string message = message_of([&] { stopped.fit(digits, {.epochs = 2, .batch = 8}); });
  EXPECT_EQ(message.find("the output of [small_cnn"), 0U) << message;
  EXPECT_NE(message.find("in epoch 1, step 1 of the training"), std::string::npos) << message;
  EXPECT_EQ(all_weights(stopped.model()), all_weights(good.model()));
}

}  // namespace
}  // namespace linnet::testing
