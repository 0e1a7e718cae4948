// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "end_to_end/needed_passes.h"
#include "end_to_end/step_operators.h"
#include "networks/networks.h"

namespace linnet::testing {
namespace {

bool no_pooled_convolution(const Op& op) { return op.name() != "conv2d_pool"; }

TEST(Conv2dPoolPass, ABackendWithoutAFusionGetsItsParts) {
  LINNET_NEEDS_PASSES("fuse_epilogue");
  const std::vector<std::string> run = launches(workloads::mnist_cnn(), no_pooled_convolution);
  EXPECT_NE(std::find(run.begin(), run.end(), "conv2d 'relu_1'"), run.end());
  EXPECT_NE(std::find(run.begin(), run.end(), "max_pool2d 'max_pool2d_1'"), run.end());
}

TEST(Conv2dPoolPass, GradientsOfWinnersAloneMeanTheSame) {
  const Dataset digits = datasets::digits(64, 0, 4).train;
  const Network network(
      {28, 28, 1},
      {Rescale{}, Conv2d{.filters = 16}, MaxPool2d{}, Conv2d{.filters = 16, .kernel = 5}, ReLU{},
       MaxPool2d{}, Conv2d{.filters = 8, .kernel = 5, .padding = Padding2d::same(), .bias = false},
       MaxPool2d{}, Flatten{}, Dense{.units = 10}});
  const std::vector<std::string> off{"fuse_pool_grads"};
  const std::vector<std::string> with = cpu_operators(network, {});
  if (std::ranges::find(with, "conv2d_pool_grad_input") == with.end()) {
    GTEST_SKIP() << "this processor has no loops for many channels";
  }
  const std::vector<std::string> without = cpu_operators(network, off);
  EXPECT_EQ(std::ranges::count(without, "conv2d_pool_grad_input"), 0);
  const std::vector<float> fused = weights_after(network, digits, {.steps = 3});
  const std::vector<float> parts =
      weights_after(network, digits, {.steps = 3, .disabled_passes = off});
  ASSERT_EQ(parts.size(), fused.size());
  for (std::size_t i = 0; i < fused.size(); ++i) ASSERT_NEAR(parts[i], fused[i], 1e-5) << i;
}

/// A sum of two convolutions is pooled: the gradient by input is one's, that by weights the
/// other's.
TEST(Conv2dPoolPass, GradientsOfWinnersMayBelongToTwoConvolutions) {
  const Dataset digits = datasets::digits(16, 0, 4).train;
  const auto conv = [&](const Padding2d& padding, const std::string& name) {
    return Conv2d{.filters = 16, .kernel = 5, .padding = padding, .bias = false, .name = name};
  };
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {28, 28, 1}) | Rescale{};
  const Padding2d same = Padding2d::same();
  const Expression a = x | conv(same, "stem") | ReLU{} | conv(same, "frozen");
  const Expression b = x | conv(same, "fixed") | conv({Padding2d::Mode::fixed, 1, 3, 3, 1}, "side");
  const Network network =
      functional.build({{"y", (a + b) | MaxPool2d{} | Flatten{} | Dense{.units = 10}}});
  const auto gradients = [&](const std::vector<std::string>& disabled) {
    Trainer trainer(Model(network, {.device = "cpu", .seed = 3}),
                    {.trains = {{.name = "stem.*"}, {.name = "side.*"}, {.name = "dense*"}}},
                    {.disabled_passes = disabled});
    std::vector<float> all;
    for (const Batch& batch : trainer.batches(digits, {.size = 16})) {
      for (const auto& [name, value] : trainer.gradients(batch)) {
        const std::vector<float> values = vector_of(value);
        all.insert(all.end(), values.begin(), values.end());
      }
    }
    return all;
  };
  const std::vector<float> fused = gradients({});
  const std::vector<float> parts = gradients({"fuse_pool_grads"});
  ASSERT_FALSE(fused.empty());
  for (std::size_t i = 0; i < fused.size(); ++i) ASSERT_NEAR(parts[i], fused[i], 1e-5) << i;
}

TEST(Conv2dPoolPass, PooledConvolutionsOfAllKindsTrain) {
  const Dataset digits = datasets::digits(16, 0, 4).train;
  for (const Conv2d& conv :
       {Conv2d{.filters = 4, .groups = 2}, Conv2d{.filters = 4, .groups = 4},
        Conv2d{.filters = 4, .stride = 2}, Conv2d{.filters = 4, .dilation = 2}}) {
    const Network network({28, 28, 1}, {Rescale{}, Conv2d{.filters = 4}, conv, MaxPool2d{},
                                        Flatten{}, Dense{.units = 10}});
    EXPECT_EQ(weights_after(network, digits, {.steps = 1}),
              weights_after(network, digits, {.steps = 1, .disabled_passes = {"fuse_pool_grads"}}));
  }
}

TEST(Conv2dPoolPass, AGroupedConvolutionKeepsItsOwnGradient) {
  LINNET_NEEDS_PASSES("fuse_epilogue");
  const Network network({8, 8, 2}, {Conv2d{.filters = 8, .groups = 2}, ReLU{}, MaxPool2d{},
                                    Flatten{}, Dense{.units = 3}});
  const std::vector<std::string> run = launches(network, layers);
  EXPECT_NE(std::find(run.begin(), run.end(), "conv2d_grad_weight 'max_pool2d_1'"), run.end());
}

/// Whoever has both of a pooled convolution's gradients gets them; others the gradients of its
/// parts.
TEST(Conv2dPoolPass, GradientsOfPooledConvolutionsAreFusedWhereTheBackendHasBoth) {
  LINNET_NEEDS_PASSES("fuse_epilogue");
  const Network network({12, 12, 3},
                        {Conv2d{.filters = 8}, ReLU{}, MaxPool2d{}, Conv2d{.filters = 8}, ReLU{},
                         MaxPool2d{}, Flatten{}, Dense{.units = 3}});
  const auto backward = [&](NullBackend::Supported supported) {
    std::vector<std::string> run = launches(network, supported);
    std::erase_if(run, [](const std::string& name) {
      return name.find("grad") == std::string::npos || name.find("pool2d_2") == std::string::npos;
    });
    return run;
  };
  EXPECT_EQ(backward(layers), (std::vector<std::string>{"conv2d_pool_grad_input 'max_pool2d_2'",
                                                        "conv2d_pool_grad 'max_pool2d_2'"}));
  const std::vector<std::string> parts{"activation_grad 'max_pool2d_2'",
                                       "max_pool2d_grad 'max_pool2d_2'",
                                       "conv2d_grad_input 'max_pool2d_2'",
                                       "conv2d_grad_weight 'max_pool2d_2'",
                                       "bias_grad 'max_pool2d_2'"};
  EXPECT_EQ(backward(
                [](const Op& op) { return layers(op) && op.name() != "conv2d_pool_grad_input"; }),
            parts);
  EXPECT_EQ(backward([](const Op& op) { return layers(op) && op.name() != "conv2d_pool_grad"; }),
            parts);
}

}  // namespace
}  // namespace linnet::testing
