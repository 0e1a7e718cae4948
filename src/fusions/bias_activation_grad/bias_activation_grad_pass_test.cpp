// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "end_to_end/step_operators.h"

namespace linnet::testing {
namespace {

TEST(BiasActivationGradPass, GradientsOfActivationsAndBiasesInOneLoopMeanTheSame) {
  const Dataset digits = datasets::digits(64, 0, 4).train;
  // A dense layer of one unit hands an outer product back, one of three a product.
  const Network network({28, 28, 1}, {Rescale{}, Flatten{}, Dense{.units = 12}, Tanh{},
                                      Dense{.units = 1}, Tanh{}, Dense{.units = 10}});
  const std::vector<std::string> off{"fuse_bias_grad"};
  const std::vector<std::string> with = cpu_operators(network, {});
  EXPECT_EQ(std::count(with.begin(), with.end(), "bias_activation_grad"), 2);
  const std::vector<std::string> without = cpu_operators(network, off);
  EXPECT_EQ(std::count(without.begin(), without.end(), "bias_activation_grad"), 0);
  const std::vector<float> fused = weights_after(network, digits, {.steps = 3});
  const std::vector<float> parts =
      weights_after(network, digits, {.steps = 3, .disabled_passes = off});
  ASSERT_EQ(parts.size(), fused.size());
  for (std::size_t i = 0; i < fused.size(); ++i) ASSERT_NEAR(parts[i], fused[i], 1e-5) << i;
}

}  // namespace
}  // namespace linnet::testing
