// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_transpose2d/conv_transpose2d.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

OpPtr transposed(Conv2dAttrs conv, std::int64_t height, std::int64_t width) {
  return make_op(ConvTranspose2dOp({conv, height, width}));
}

TEST(ConvTranspose2d, AgreesWithTheReference) {
  check({"transposed", transposed({}, 5, 6), {f32({2, 3, 4, 3}), f32({3, 3, 3, 2})}});
  check({"transposed 1x1", transposed({}, 3, 4), {f32({2, 3, 4, 3}), f32({3, 1, 1, 5})}});
  const Conv2dAttrs doubling{
      .stride_h = 2, .stride_w = 2, .pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1};
  check(
      {"transposed doubling", transposed(doubling, 6, 8), {f32({2, 3, 4, 3}), f32({3, 4, 4, 2})}});
  check({"transposed, output padded",
         transposed(doubling, 6, 8),
         {f32({2, 3, 4, 3}), f32({3, 3, 3, 2})}});
  Conv2dAttrs grouped = doubling;
  grouped.groups = 2;
  check({"transposed grouped", transposed(grouped, 5, 7), {f32({1, 3, 4, 4}), f32({4, 3, 3, 3})}});
  const Conv2dAttrs uneven{
      .stride_h = 2, .stride_w = 3, .dilation_h = 2, .pad_top = 1, .pad_right = 2};
  check({"transposed uneven", transposed(uneven, 6, 6), {f32({2, 2, 3, 2}), f32({2, 3, 2, 3})}});
  check({"transposed, gaps",
         transposed({.stride_h = 3, .stride_w = 3}, 8, 8),
         {f32({2, 3, 3, 2}), f32({2, 2, 2, 3})}});
  check({"transposed no sample",
         transposed({}, 5, 6),
         {f32({0, 3, 4, 3}), f32({3, 3, 3, 2})},
         {},
         false});
  check({"transposed many tasks",
         transposed(doubling, 34, 36),
         {f32({9, 17, 18, 16}), f32({16, 4, 4, 24})},
         {},
         false});
}

TEST(ConvTranspose2d, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(
      inference_error(transposed({}, 5, 6), {f32({2, 3, 4, 3}), f32({2, 3, 3, 2})}, "up"),
      "[conv_transpose2d 'up'] expected 2 input channels; got x=(2, 3, 4, 3), w=(2, 3, 3, 2)");
  EXPECT_EQ(inference_error(transposed({}, 5, 6), {f32({2, 4, 4, 3}), f32({3, 3, 3, 2})}, "up"),
            "[conv_transpose2d 'up'] expected images of (3, 4) for an output of (5, 6); got "
            "x=(2, 4, 4, 3), w=(3, 3, 3, 2)");
  EXPECT_EQ(inference_error(transposed({}, 0, 6), {f32({2, 4, 4, 3}), f32({3, 3, 3, 2})}, "up"),
            "[conv_transpose2d 'up'] expected an output of at least one pixel; got (0, 6)");
  EXPECT_EQ(
      inference_error(transposed({}, 5, 6), {f32({2, 4}), f32({3, 3, 3, 2})}, "up"),
      "[conv_transpose2d 'up'] expected x (N, H, W, C_in) and w (C_in, KH, KW, C_out/groups); "
      "got x=(2, 4), w=(3, 3, 3, 2)");
}

}  // namespace
}  // namespace linnet::testing
