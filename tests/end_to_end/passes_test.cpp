// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/passes.h"

#include <gtest/gtest.h>

#include "backend/null/null_backend.h"
#include "fixtures.h"

namespace linnet::testing {
namespace {

std::vector<std::string> launches(const Network& network, NullBackend::Supported supported,
                                  const std::vector<std::string>& disabled = {}) {
  NullBackend null(supported);
  const Records records{{DType::u8, network.input_shape().batched(1)}, {DType::i32, Shape{1}}};
  Graph graph = training_step(network.definition(), records,
                              {.batch = 128,
                               .optimizer = resolve(adam(), 1, 1),
                               .disabled_passes = disabled},
                              [&](const Op& op, std::span<const ValueType> in,
                                  std::span<const ValueType> out) {
                                return null.supports(op, in, out);
                              });
  const auto program = null.prepare(std::move(graph), {});
  verify_plan(program->plan());
  program->run({});
  return null.launches();
}

bool everything(const Op&) { return true; }
bool no_pooled_convolution(const Op& op) { return op.name() != "conv2d_pool"; }

/// The whole training step of mnist-cnn is twelve operators.
TEST(Passes, MnistCnnIsFusedToTheEnd) {
  const std::vector<std::string> expected{
      "gather_batch 'targets'",
      "gather_batch 'rescale_1'",
      "conv2d_pool 'max_pool2d_1'",
      "dense 'dense_1'",
      "softmax_cross_entropy 'loss'",
      "metrics 'metrics'",
      "softmax_cross_entropy_grad 'loss'",
      "bias_grad 'dense_1'",
      "dense_grad_weight 'dense_1'",
      "dense_grad_input 'dense_1'",
      "conv2d_pool_grad 'max_pool2d_1'",
      "optimizer_update 'optimizer'",
  };
  EXPECT_EQ(launches(zoo::mnist_cnn(), everything), expected);
}

TEST(Passes, ABackendWithoutAFusionGetsItsParts) {
  const std::vector<std::string> run = launches(zoo::mnist_cnn(), no_pooled_convolution);
  EXPECT_NE(std::find(run.begin(), run.end(), "conv2d 'relu_1'"), run.end());
  EXPECT_NE(std::find(run.begin(), run.end(), "max_pool2d 'max_pool2d_1'"), run.end());
}

TEST(Passes, EachCanBeSwitchedOffAndMeansTheSame) {
  const Dataset digits = make_digits(64, 0, 4).train;
  const std::vector<float> fused = weights_after(zoo::mnist_cnn(), digits, {.steps = 3});
  for (const Pass& pass : forward_passes()) {
    const std::vector<std::string> disabled{std::string(pass.name)};
    if (pass.name != "remove_dead") {
      EXPECT_GT(launches(zoo::mnist_cnn(), everything, disabled).size(), 12U) << pass.name;
    }
    const std::vector<float> other =
        weights_after(zoo::mnist_cnn(), digits, {.steps = 3, .disabled_passes = disabled});
    ASSERT_EQ(other.size(), fused.size());
    for (std::size_t i = 0; i < fused.size(); ++i) {
      ASSERT_NEAR(other[i], fused[i], 2e-4) << "without " << pass.name << " at " << i;
    }
  }
}

TEST(Passes, AnUnknownNameIsAnError) {
  try {
    launches(zoo::mnist_cnn(), everything, {"fuse_all"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "there is no pass 'fuse_all'; the passes are fuse_gather_scale, "
                 "fuse_softmax_cross_entropy, fuse_epilogue, fuse_conv2d_pool, remove_dead");
  }
}

}  // namespace
}  // namespace linnet::testing
