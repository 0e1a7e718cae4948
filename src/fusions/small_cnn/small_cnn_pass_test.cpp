// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "end_to_end/needed_passes.h"
#include "end_to_end/step_operators.h"
#include "networks/networks.h"

namespace linnet::testing {
namespace {

TEST(SmallCnnPass, MnistCnnIsFusedToTheEnd) {
  LINNET_NEEDS_PASSES("fuse_epilogue", "fuse_gather_scale", "fuse_softmax_cross_entropy");
  const std::vector<std::string> expected{"small_cnn 'loss'", "optimizer_update 'optimizer'"};
  EXPECT_EQ(launches(workloads::mnist_cnn(), everything), expected);
}

TEST(SmallCnnPass, CanBeSwitchedOff) {
  LINNET_NEEDS_PASSES("fuse_epilogue", "fuse_gather_scale", "fuse_softmax_cross_entropy");
  EXPECT_EQ(launches(workloads::mnist_cnn(), everything, {"fuse_small_cnn"}).size(), 13U);
}

/// One operator for all layers: the gradients (of SGD, weights less what they were) agree. Where
/// the processor has none, it is the same run twice.
TEST(SmallCnnPass, OneOperatorForASmallCnnMeansTheSame) {
  const Dataset digits = datasets::digits(300, 0, 4).train;
  const auto weights = [&](int threads, const std::vector<std::string>& disabled) {
    Model model(workloads::mnist_cnn(), {.device = "cpu", .threads = threads, .seed = 3});
    std::vector<float> result = all_weights(model);
    const std::vector<float> before = result;
    train(model, digits,
          {.epochs = 1,
           .batch = 300,
           .optimizer = SGD{.learning_rate = 1},
           .disabled_passes = disabled});
    result = all_weights(model);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] -= before[i];
    return result;
  };
  const std::vector<float> parts = weights(1, {"fuse_small_cnn"});
  const std::vector<float> fused = weights(1, {});
  double apart = 0;
  double size = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double off = double{fused[i]} - double{parts[i]};
    apart += off * off;
    size += double{parts[i]} * double{parts[i]};
  }
  EXPECT_LT(std::sqrt(apart / size), 1e-6);
  for (const int threads : {2, 3, 7}) EXPECT_EQ(weights(threads, {}), fused) << threads;
}

}  // namespace
}  // namespace linnet::testing
