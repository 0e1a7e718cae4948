// SPDX-License-Identifier: Apache-2.0
#include "ops/channel_scale/channel_scale.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(ChannelScale, AgreesWithTheReference) {
  const OpPtr three = make_op(ChannelScaleOp({.scale = {2, -0.5, 1e-3}, .shift = {0, 1, -3}}));
  check({"channel scale images", three, {f32({2, 5, 7, 3})}});
  check({"channel scale no sample", three, {f32({0, 4, 3})}, {}, false});
  check({"channel scale many tasks", three, {f32({16, 65, 67, 3})}, {}, false});
  check({"channel scale one",
         make_op(ChannelScaleOp({.scale = {4}, .shift = {-2}})),
         {f32({3, 9, 1})}});
  const std::vector<double> many(16, 0.25);
  check({"channel scale sixteen",
         make_op(ChannelScaleOp({.scale = many, .shift = many})),
         {f32({3, 16})}});
}

TEST(ChannelScale, SaysWhatDoesNotFit) {
  const auto op = [](std::size_t scales, std::size_t shifts) {
    return make_op(ChannelScaleOp(
        {.scale = std::vector<double>(scales, 1), .shift = std::vector<double>(shifts, 0)}));
  };
  EXPECT_EQ(inference_error(op(3, 2), {f32({2, 3})}, "pixels"),
            "[channel_scale 'pixels'] expected a scale and a shift for each of 3 channels; got 3 "
            "and 2");
  EXPECT_EQ(inference_error(op(17, 17), {f32({2, 17})}, "pixels"),
            "[channel_scale 'pixels'] expected at most 16 channels; got x=(2, 17)");
}

}  // namespace
}  // namespace linnet::testing
