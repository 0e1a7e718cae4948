// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/conv2d.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

OpPtr conv(Conv2dAttrs attrs = {}) { return make_op(Conv2dOp(attrs)); }

Conv2dAttrs padded(std::int64_t pad, Conv2dAttrs attrs = {}) {
  attrs.pad_top = attrs.pad_bottom = attrs.pad_left = attrs.pad_right = pad;
  return attrs;
}

TEST(Conv2d, AgreesWithTheReference) {
  check({"conv2d valid", conv(), {f32({2, 5, 6, 3}), f32({4, 3, 3, 3})}});
  check({"conv2d padded", conv(padded(1)), {f32({2, 5, 5, 2}), f32({3, 3, 3, 2})}});
  check({"conv2d uneven padding",
         conv({.pad_top = 2, .pad_left = 1}),
         {f32({1, 4, 5, 2}), f32({3, 3, 2, 2})}});
  check({"conv2d strided",
         conv(padded(1, {.stride_h = 2, .stride_w = 3})),
         {f32({2, 7, 8, 2}), f32({3, 3, 3, 2})}});
  check({"conv2d stride beyond the kernel",
         conv({.stride_h = 3, .stride_w = 4}),
         {f32({2, 8, 9, 2}), f32({3, 2, 2, 2})}});
  check({"conv2d dilated",
         conv(padded(2, {.dilation_h = 2, .dilation_w = 2})),
         {f32({1, 6, 7, 2}), f32({2, 3, 3, 2})}});
  check({"conv2d 1x1", conv(), {f32({2, 3, 4, 5}), f32({6, 1, 1, 5})}});
  check({"conv2d 1x1 strided",
         conv({.stride_h = 2, .stride_w = 2}),
         {f32({2, 5, 4, 5}), f32({6, 1, 1, 5})}});
  check({"conv2d grouped", conv(padded(1, {.groups = 2})), {f32({2, 4, 4, 4}), f32({6, 3, 3, 2})}});
  check(
      {"conv2d depthwise", conv(padded(1, {.groups = 5})), {f32({2, 4, 5, 5}), f32({5, 3, 3, 1})}});
  check({"conv2d 1x1 padded above", conv({.pad_top = 1}), {f32({2, 3, 4, 5}), f32({6, 1, 1, 5})}});
  check(
      {"conv2d 1x1 padded below", conv({.pad_bottom = 1}), {f32({2, 3, 4, 5}), f32({6, 1, 1, 5})}});
  check({"conv2d two filters a channel",
         conv(padded(1, {.groups = 4})),
         {f32({2, 4, 5, 4}), f32({8, 3, 3, 1})}});
  const Conv2dAttrs uneven{
      .stride_h = 2, .stride_w = 3, .dilation_h = 1, .dilation_w = 2, .pad_top = 1, .pad_right = 2};
  check({"conv2d uneven", conv(uneven), {f32({2, 9, 8, 3}), f32({2, 3, 2, 3})}});
  Conv2dAttrs depthwise = uneven;
  depthwise.groups = 3;
  depthwise.dilation_h = 3;
  check({"conv2d depthwise uneven", conv(depthwise), {f32({2, 9, 8, 3}), f32({3, 2, 3, 1})}});
  depthwise.bias = true;
  check(
      {"conv2d depthwise bias", conv(depthwise), {f32({2, 9, 8, 3}), f32({3, 2, 3, 1}), f32({3})}});
  check(
      {"conv2d 1x1 bias", conv({.bias = true}), {f32({2, 3, 4, 5}), f32({6, 1, 1, 5}), f32({6})}});
  check({"conv2d kernel as large as the image", conv(), {f32({3, 4, 5, 2}), f32({3, 4, 5, 2})}});
  check({"conv2d one pixel", conv(padded(1)), {f32({1, 1, 1, 1}), f32({1, 3, 3, 1})}});
  check({"conv2d no sample", conv(padded(1)), {f32({0, 5, 5, 2}), f32({3, 3, 3, 2})}, {}, false});
  for (Activation a : {Activation::relu, Activation::tanh, Activation::sigmoid}) {
    check({"conv2d bias activation",
           conv(padded(1, {.bias = true, .activation = a})),
           {f32({2, 4, 5, 3}), f32({4, 3, 3, 3}), f32({4})}});
  }
  for (const std::int64_t filters : {2, 6}) {  // rows of few channels are joined
    check({"conv2d narrow bias activation",
           conv(padded(1, {.bias = true, .activation = Activation::tanh})),
           {f32({3, 9, 11, 20}), f32({filters, 3, 3, 20}), f32({filters})},
           {},
           false});
  }
  check({"conv2d large values",
         conv(),
         {f32({1, 5, 5, 2}), f32({3, 3, 3, 2})},
         {{-1e15, 1e15}},
         false});
}

/// Sizes that take every engine and several tasks.
TEST(Conv2d, LargerSizesAgreeWithTheReference) {
  struct Case {
    std::string name;
    Shape x, w;
    Conv2dAttrs attrs;
  };
  const std::vector<Case> cases{
      {"1 to 16", {9, 14, 14, 1}, {16, 3, 3, 1}, padded(1)},
      {"3 to 16 5x5", {5, 15, 13, 3}, {16, 5, 5, 3}, {}},
      {"16 to 24", {5, 9, 11, 16}, {24, 3, 3, 16}, padded(1)},
      {"17 to 19", {5, 9, 11, 17}, {19, 3, 3, 17}, padded(1)},
      {"small images", {9, 2, 2, 40}, {48, 3, 3, 40}, padded(1)},
      {"1x1 many pixels", {5, 19, 17, 24}, {40, 1, 1, 24}, {}},
      {"1x1 many pixels, wide", {5, 19, 17, 130}, {300, 1, 1, 130}, {}},
      {"1x1 no sample", {0, 19, 17, 24}, {40, 1, 1, 24}, {}},
      {"1x1 few pixels, more filters", {7, 1, 1, 80}, {96, 1, 1, 80}, {}},
      {"1x1 few pixels, large", {70, 1, 1, 300}, {310, 1, 1, 300}, {}},
      {"1x1 few pixels, wide", {70, 1, 1, 310}, {300, 1, 1, 310}, {}},
      {"large lines", {3, 40, 40, 12}, {20, 3, 3, 12}, padded(1)},
      {"small images, many", {300, 2, 2, 70}, {20, 3, 3, 70}, padded(1)},
      {"1x1 few pixels", {7, 1, 1, 96}, {80, 1, 1, 96}, {}},
      {"groups of 8", {5, 9, 9, 16}, {32, 3, 3, 8}, padded(1, {.groups = 2})},
      {"groups of 4", {5, 9, 9, 32}, {32, 3, 3, 4}, padded(1, {.groups = 8})},
      {"groups of 2, strided",
       {3, 12, 11, 32},
       {32, 3, 3, 2},
       padded(1, {.stride_h = 2, .stride_w = 2, .groups = 16})},
      {"depthwise 16", {5, 9, 9, 16}, {16, 3, 3, 1}, padded(1, {.groups = 16})},
      {"strided", {5, 12, 12, 16}, {16, 3, 3, 16}, padded(1, {.stride_h = 2, .stride_w = 2})},
  };
  for (const auto& [name, x, w, attrs] : cases) {
    check({"conv2d " + name, conv(attrs), {f32(x), f32(w)}, {}, false});
    const Shape y = conv(attrs)->infer(std::vector<ValueType>{f32(x), f32(w)})[0].shape;
    check({"conv2d_grad_input " + name,
           make_op(Conv2dGradInputOp({attrs, x[1], x[2]})),
           {f32(y), f32(w)},
           {},
           false});
    check({"conv2d_grad_weight " + name,
           make_op(Conv2dGradWeightOp({attrs, w[1], w[2]})),
           {f32(x), f32(y)},
           {},
           false});
  }
}

/// Numbers worked out by hand: reference and kernels share the geometry.
TEST(Conv2d, ShapesAreTheirFormulas) {
  const ConvShape s =
      conv_shape({.stride_h = 2, .stride_w = 3, .dilation_w = 2, .pad_top = 1, .pad_right = 2},
                 {5, 9, 9, 4}, {6, 3, 2, 4}, "");
  EXPECT_EQ(s.oh, 4);  // windows at rows -1, 1, 3, 5 of 9
  EXPECT_EQ(s.ow, 3);  // columns 0, 3, 6 of 9 + 2
  EXPECT_EQ(s.co, 6);
  EXPECT_EQ(s.taps(), 24);
}

TEST(Conv2d, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(conv(), {f32({8, 3, 3, 2}), f32({4, 5, 5, 2})}, "stem"),
            "[conv2d 'stem'] kernel (5, 5) is larger than the padded input (3, 3); got x=(8, 3, 3, "
            "2), w=(4, 5, 5, 2)");
  EXPECT_EQ(inference_error(conv(), {f32({128, 32, 32, 1}), f32({64, 7, 7, 3})}, "stem"),
            "[conv2d 'stem'] expected 3 input channels; got x=(128, 32, 32, 1), w=(64, 7, 7, 3)");
  EXPECT_EQ(inference_error(conv(), {f32({8, 32}), f32({64, 7, 7, 3})}, "stem"),
            "[conv2d 'stem'] expected x (N, H, W, C) and w (C_out, KH, KW, C/groups); got x=(8, "
            "32), w=(64, 7, 7, 3)");
  EXPECT_EQ(
      inference_error(conv({.groups = 2}), {f32({1, 8, 8, 4}), f32({3, 3, 3, 2})}, "stem"),
      "[conv2d 'stem'] expected a multiple of 2 output channels (groups); got x=(1, 8, 8, 4), "
      "w=(3, 3, 3, 2)");
}

TEST(Conv2d, AttributesFromAFileAreChecked) {
  EXPECT_EQ(
      inference_error(conv({.stride_h = 0}), {f32({1, 8, 8, 4}), f32({3, 3, 3, 4})}, "c"),
      "[conv2d 'c'] expected strides, dilations and groups of at least 1; got strides (0, 1), "
      "dilations (1, 1), 1 groups");
  EXPECT_EQ(inference_error(conv({.pad_left = -1}), {f32({1, 8, 8, 4}), f32({3, 3, 3, 4})}, "c"),
            "[conv2d 'c'] expected no negative padding; got top 0, bottom 0, left -1, right 0");
}

}  // namespace
}  // namespace linnet::testing
