// SPDX-License-Identifier: Apache-2.0
// Paths of Linnet's own CUDA kernels that the operator's common cases are too small for.
#include <gtest/gtest.h>

#include "ops/conv2d/conv2d.h"
#include "ops/conv2d/cuda_kernel_test.h"

namespace linnet::cuda {
void register_conv2d(Registry& registry);
}

namespace linnet::testing {
namespace {

cuda::Registry kernels() {
  cuda::Registry registry;
  cuda::register_conv2d(registry);
  return registry;
}

Conv2dAttrs padded(std::int64_t pad, std::int64_t groups = 1) {
  return {.groups = groups, .pad_top = pad, .pad_bottom = pad, .pad_left = pad, .pad_right = pad};
}

std::string forward(const Conv2dAttrs& attrs, const Shape& x, const Shape& w,
                    std::size_t skew = 0) {
  std::vector<ValueType> inputs{f32(x), f32(w)};
  if (attrs.bias) inputs.push_back(f32({w[0]}));
  return expect_cuda_agrees("forward " + to_string(x) + to_string(w), make_op(Conv2dOp(attrs)),
                            inputs, kernels(), skew);
}

Shape result(const Conv2dAttrs& attrs, const Shape& x, const Shape& w) {
  return Conv2dOp(attrs.plain()).infer(std::vector<ValueType>{f32(x), f32(w)})[0].shape;
}

std::string grad_input(const Conv2dAttrs& attrs, const Shape& x, const Shape& w,
                       std::size_t skew = 0) {
  return expect_cuda_agrees("grad_input " + to_string(x) + to_string(w),
                            make_op(Conv2dGradInputOp({attrs, x[1], x[2]})),
                            {f32(result(attrs, x, w)), f32(w)}, kernels(), skew);
}

std::string grad_weight(const Conv2dAttrs& attrs, const Shape& x, const Shape& w,
                        std::size_t skew = 0) {
  return expect_cuda_agrees("grad_weight " + to_string(x) + to_string(w),
                            make_op(Conv2dGradWeightOp({attrs, w[1], w[2]})),
                            {f32(x), f32(result(attrs, x, w))}, kernels(), skew);
}

TEST(Conv2dCuda, LargeTiles) {
  EXPECT_EQ(forward(padded(1), {1, 128, 128, 1}, {66, 3, 3, 1}), "tiles 128x128");
  EXPECT_EQ(grad_input({}, {1, 129, 127, 68}, {4, 2, 1, 68}), "tiles 128x128");
  EXPECT_EQ(grad_weight(padded(1), {2, 12, 12, 9}, {70, 3, 3, 9}), "tiles 128x128, pixels in 1");
  EXPECT_EQ(grad_weight(padded(1), {2, 17, 16, 8}, {132, 3, 3, 8}), "tiles 128x128, pixels in 2");
}

TEST(Conv2dCuda, DirectInGroupsAndInSeveralTiles) {
  for (std::size_t skew : {0, 4}) {
    const auto all = [&](const Conv2dAttrs& attrs, const Shape& x, const Shape& w) {
      forward(attrs, x, w, skew);
      grad_input(attrs, x, w, skew);
      grad_weight(attrs, x, w, skew);
    };
    all(padded(1, 2), {2, 5, 5, 4}, {8, 3, 3, 2});
    all(padded(1, 12), {1, 4, 4, 24}, {72, 3, 3, 2});
    all(padded(1, 68), {2, 4, 5, 68}, {68, 3, 3, 1});
    all(padded(1, 37), {2, 4, 5, 37}, {37, 3, 3, 1});
    all(padded(1), {2, 6, 7, 8}, {12, 3, 3, 8});
    all({}, {2, 6, 7, 8}, {12, 1, 1, 8});
  }
  Conv2dAttrs tail = padded(1, 4);
  tail.bias = true;
  tail.activation = Activation::tanh;
  EXPECT_EQ(forward(tail, {1, 4, 4, 8}, {16, 3, 3, 2}), "direct");
  EXPECT_EQ(forward(tail, {1, 4, 4, 4}, {4, 3, 3, 1}), "depthwise");
  EXPECT_EQ(forward(tail, {1, 4, 4, 64}, {20, 3, 3, 16}), "tiles 256x16");
}

TEST(Conv2dCuda, DepthwiseWindowsThatFillSharedMemory) {
  EXPECT_EQ(forward({.groups = 32}, {1, 21, 23, 32}, {32, 20, 20, 1}), "depthwise");
  EXPECT_EQ(grad_input({.groups = 32}, {1, 21, 23, 32}, {32, 20, 20, 1}), "depthwise");
  EXPECT_EQ(forward({.groups = 2}, {1, 112, 112, 2}, {2, 112, 112, 1}), "tiles 256x16");
}

TEST(Conv2dCuda, PixelsInManyParts) {
  EXPECT_EQ(grad_weight(padded(1), {1, 66, 66, 1}, {32, 3, 3, 1}), "direct, pixels in 17");
  EXPECT_EQ(grad_weight(padded(1, 32), {1, 66, 66, 32}, {32, 3, 3, 1}), "depthwise, pixels in 17");
}

TEST(Conv2dCuda, NoSampleHasNoGradient) {
  EXPECT_EQ(grad_weight(padded(1), {0, 5, 5, 2}, {3, 3, 3, 2}), "direct, pixels in 1");
  EXPECT_EQ(grad_weight(padded(1), {0, 5, 5, 16}, {48, 3, 3, 16}), "tiles 64x64, pixels in 1");
  grad_weight({}, {0, 5, 5, 16}, {48, 1, 1, 16});
  grad_input(padded(1), {0, 5, 5, 16}, {48, 3, 3, 16});
}

}  // namespace
}  // namespace linnet::testing
