// SPDX-License-Identifier: Apache-2.0
// What the CUDA kernels take beyond the CPU's loops, and what they refuse.
#include <gtest/gtest.h>

#include "fusions/conv2d_pool/conv2d_pool.h"
#include "ops/conv2d/cuda_kernel_test.h"

namespace linnet::cuda {
void register_conv2d_pool(Registry& registry);
}

namespace linnet::testing {
namespace {

cuda::Registry kernels() {
  cuda::Registry registry;
  cuda::register_conv2d_pool(registry);
  return registry;
}

Conv2dPoolAttrs attributes(std::int64_t pad, bool bias, Activation activation) {
  return {{.pad_top = pad,
           .pad_bottom = pad,
           .pad_left = pad,
           .pad_right = pad,
           .bias = bias,
           .activation = activation},
          {}};
}

void expect_agrees(const Conv2dPoolAttrs& attrs, const Shape& x, const Shape& w,
                   std::size_t skew = 0) {
  std::vector<ValueType> inputs{f32(x), f32(w)};
  if (attrs.conv.bias) inputs.push_back(f32({w[0]}));
  const OpPtr op = make_op(Conv2dPoolOp(attrs));
  expect_cuda_agrees("forward " + to_string(x) + to_string(w), op, inputs, kernels(), skew);
  const Shape y = op->infer(inputs)[0].shape;
  expect_cuda_agrees("gradient " + to_string(x) + to_string(w),
                     make_op(Conv2dPoolGradOp({attrs, w[1], w[2]})),
                     {f32(x), f32(y), f32(y), u8(y)}, kernels(), skew);
}

TEST(Conv2dPoolCuda, KernelsOfAnySize) {
  for (std::size_t skew : {0, 4}) {
    expect_agrees(attributes(1, true, Activation::relu), {3, 8, 9, 1}, {12, 3, 3, 1}, skew);
    expect_agrees(attributes(0, false, Activation::none), {2, 7, 8, 2}, {4, 2, 3, 2}, skew);
    expect_agrees(attributes(1, true, Activation::relu), {2, 9, 8, 2}, {4, 4, 4, 2}, skew);
    expect_agrees(attributes(2, true, Activation::relu), {2, 9, 8, 3}, {20, 5, 5, 3}, skew);
  }
  expect_agrees(attributes(3, true, Activation::relu), {2, 16, 14, 1}, {100, 7, 7, 1});
  expect_agrees(attributes(0, true, Activation::relu), {2, 6, 6, 20}, {8, 1, 1, 20});
}

/// Wide images come in bands, the last of a sample a smaller one; blocks take several.
TEST(Conv2dPoolCuda, Bands) {
  expect_agrees(attributes(1, true, Activation::relu), {1, 15, 500, 3}, {4, 3, 3, 3});
  expect_agrees(attributes(1, true, Activation::none), {2, 10, 1000, 1}, {4, 3, 3, 1});
  expect_agrees(attributes(1, true, Activation::relu), {2100, 3, 4, 1}, {4, 3, 3, 1});
}

TEST(Conv2dPoolCuda, NaNWinsAndTheFirstOfEqualOnes) {
  const double nan = std::nan("");
  const std::vector<std::pair<std::vector<double>, int>> windows{
      {{2, 2, 2, 2}, 0},   {{1, 2, 2, 1}, 1},   {{-1, 0, -2, -3}, 0}, {{-4, -3, -2, -1}, 0},
      {{1, 1, 3, 2}, 2},   {{1, 1, 3, 4}, 3},   {{nan, 3, 4, 5}, 0},  {{3, nan, 4, 5}, 1},
      {{3, 4, nan, 5}, 2}, {{3, 4, 5, nan}, 3}, {{nan, 4, 5, nan}, 0}};
  for (const auto& [pixels, winner] : windows) {
    const OpPtr op = make_op(Conv2dPoolOp(attributes(0, false, Activation::relu)));
    CudaKernelRun run(op, {f32({1, 2, 2, 1}), f32({4, 1, 1, 1})});
    run.operand(0) = pixels;
    run.operand(1).assign(4, 1);
    const std::vector<std::vector<double>> results = run.run(kernels());
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[1], std::vector<double>(4, winner)) << ::testing::PrintToString(pixels);
    const double best = pixels[static_cast<std::size_t>(winner)];
    EXPECT_EQ(std::isnan(results[0][3]), std::isnan(best));
    if (!std::isnan(best)) {
      EXPECT_EQ(results[0][3], std::max(best, 0.0));
    }
  }
}

/// Passes ask before they fuse: a yes to what the kernels don't compute would be a wrong result.
TEST(Conv2dPoolCuda, RefusesWhatOthersDoBetter) {
  const auto taken = [](const Conv2dPoolAttrs& attrs, std::int64_t filters = 8,
                        std::int64_t kernel = 3, std::int64_t channels = 1,
                        std::int64_t width = 12) {
    const std::vector<ValueType> in{f32({2, 12, width, channels}),
                                    f32({filters, kernel, kernel, channels / attrs.conv.groups})};
    return !CudaKernelRun(make_op(Conv2dPoolOp(attrs)), in).run(kernels()).empty();
  };
  EXPECT_TRUE(taken({}));
  EXPECT_FALSE(taken({{.activation = Activation::tanh}, {}}));
  EXPECT_FALSE(taken({{.stride_h = 2}, {}}));
  EXPECT_FALSE(taken({{.stride_w = 2}, {}}));
  EXPECT_FALSE(taken({{.dilation_h = 2}, {}}));
  EXPECT_FALSE(taken({{.dilation_w = 2}, {}}));
  EXPECT_FALSE(taken({{.groups = 3}, {}}, 24, 3, 3));
  EXPECT_FALSE(taken({{}, {.size_h = 3}}));
  EXPECT_FALSE(taken({{}, {.stride_w = 1}}));
  EXPECT_FALSE(taken({}, 6));
  EXPECT_FALSE(taken({}, 8, 3, 16));
  EXPECT_FALSE(taken({}, 512));
  EXPECT_FALSE(taken({}, 8, 3, 1, 3000));
}

}  // namespace
}  // namespace linnet::testing
