// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/own_plan_cuda.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <stdexcept>

namespace linnet::cuda {
namespace {

using Kind = OwnConvPlan::Kind;

ConvShape convolution(const Shape& x, const Shape& w, std::int64_t pad = 1,
                      std::int64_t groups = 1) {
  return conv_shape(
      {.groups = groups, .pad_top = pad, .pad_bottom = pad, .pad_left = pad, .pad_right = pad}, x,
      w, "");
}

Kind kind(ConvPass pass, const ConvShape& s) {
  const std::optional<OwnConvPlan> plan = plan_own_conv(pass, s);
  return plan ? plan->kind : throw std::runtime_error("refused");
}

TEST(OwnConvPlan, FollowsFromTheShape) {
  const ConvShape few = convolution({2, 8, 8, 3}, {16, 3, 3, 3});
  EXPECT_EQ(kind(ConvPass::forward, few), Kind::direct);
  EXPECT_EQ(kind(ConvPass::grad_input, few), Kind::tiles);
  EXPECT_EQ(kind(ConvPass::grad_weight, few), Kind::direct);
  const ConvShape wide = convolution({2, 8, 8, 64}, {64, 3, 3, 64});
  const ConvShape single = convolution({2, 8, 8, 64}, {64, 1, 1, 64}, 0);
  const ConvShape channels = convolution({2, 8, 8, 64}, {64, 3, 3, 1}, 1, 64);
  for (const ConvPass pass : {ConvPass::forward, ConvPass::grad_input, ConvPass::grad_weight}) {
    EXPECT_EQ(kind(pass, wide), Kind::tiles);
    EXPECT_EQ(kind(pass, single), Kind::product);
    EXPECT_EQ(kind(pass, channels), Kind::depthwise);
  }
}

TEST(OwnConvPlan, PartsOfAWeightGradientHoldEachPixelOnce) {
  for (const std::int64_t samples : {0, 1, 3, 64, 5000}) {
    for (const ConvShape& s : {convolution({samples, 17, 19, 3}, {16, 3, 3, 3}),
                               convolution({samples, 17, 19, 32}, {96, 3, 3, 32}),
                               convolution({samples, 4, 5, 600}, {800, 5, 5, 600}, 2),
                               convolution({samples, 9, 9, 64}, {64, 3, 3, 1}, 1, 64)}) {
      const std::optional<OwnConvPlan> plan = plan_own_conv(ConvPass::grad_weight, s);
      ASSERT_TRUE(plan);
      SCOPED_TRACE(plan->engine);
      const std::int64_t pixels = samples * s.out_pixels();
      EXPECT_GE(plan->parts * plan->part_pixels, pixels);
      EXPECT_TRUE(plan->parts == 1 || (plan->parts - 1) * plan->part_pixels < pixels);
      const std::int64_t floats = plan->parts > 1 ? plan->parts * s.weights() : 0;
      EXPECT_EQ(plan->workspace_bytes, sizeof(float) * static_cast<std::size_t>(floats));
      EXPECT_LE(floats, std::int64_t{16} << 20);
    }
  }
}

/// Four channels' weights of a thread that reads four at once must fit, too.
TEST(OwnConvPlan, LargeDepthwiseWindowsHaveATile) {
  for (const std::int64_t side : {48, 55, 56, 110, 120}) {
    for (const std::int64_t channels : {3, 8}) {
      const ConvShape s =
          convolution({1, side, side, channels}, {channels, side, side, 1}, 0, channels);
      for (const ConvPass pass : {ConvPass::forward, ConvPass::grad_input}) {
        const std::optional<OwnConvPlan> plan = plan_own_conv(pass, s);
        ASSERT_TRUE(plan);
        for (const bool vectors : {false, plan->fours}) {
          if (plan->kind != Kind::depthwise) continue;
          EXPECT_GT(plan->direct(s.n * s.out_pixels(), vectors).tile, 0) << side;
        }
      }
    }
  }
}

TEST(OwnConvPlan, RefusesWhatKernelsCannotIndex) {
  const std::int64_t side = std::int64_t{1} << 15;
  EXPECT_TRUE(plan_own_conv(ConvPass::forward, convolution({1, side, side - 1, 1}, {1, 3, 3, 1})));
  EXPECT_FALSE(plan_own_conv(ConvPass::forward, convolution({1, side, side, 1}, {1, 3, 3, 1}, 0)));
  EXPECT_FALSE(
      plan_own_conv(ConvPass::forward, convolution({1, 4, 4, 65536}, {65536, 3, 3, 1}, 1, 65536)));
}

}  // namespace
}  // namespace linnet::cuda
