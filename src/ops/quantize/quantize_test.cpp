// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/quantize.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(Quantize, AgreesWithTheReference) {
  const OpPtr op = make_op(QuantizeOp({.scale = 0.0078125, .zero = 128}));
  // The gradient passes straight through, which finite differences of steps do not.
  check({"quantize", op, {f32({5, 7})}, {}, false});
  check({"quantize images", op, {f32({3, 9, 11, 5})}, {{-3, 3}}, false});
  check({"quantize many", op, {f32({300, 1000})}, {}, false});
  check({"quantize nothing", op, {f32({0, 4})}, {}, false});
}

TEST(Quantize, WeightsAgreeWithTheReference) {
  const OpPtr op = make_op(QuantizeWeightsOp());
  check({"quantize weights", op, {f32({5, 3, 3, 7})}, {}, false});
  check({"quantize weights dense", op, {f32({300, 70})}, {}, false});
  check({"quantize weights of zeros", op, {f32({4, 6})}, {{0, 0}}, false});
}

TEST(Quantize, LevelsReachFromTheSmallestToTheLargest) {
  const LevelsAttrs levels = levels_between(-1, 3);
  EXPECT_EQ(levels.value_of(static_cast<double>(levels.zero)), 0);
  EXPECT_NEAR(levels.value_of(0), -1, levels.scale);
  EXPECT_NEAR(levels.value_of(255), 3, levels.scale);
  EXPECT_EQ(levels_between(1, 2).zero, 0);
  EXPECT_NEAR(levels_between(1, 2).value_of(255), 2, 1e-5);
  EXPECT_EQ(levels_between(-2, -1).zero, 255);
  EXPECT_GT(levels_between(0, 0).scale, 0);
}

TEST(Quantize, RefusesScalesAndZerosOutOfRange) {
  const auto message = [](double scale, std::int64_t zero) {
    return inference_error(make_op(QuantizeOp({.scale = scale, .zero = zero})), {f32({2})});
  };
  EXPECT_EQ(message(0, 0),
            "[quantize 'layer'] expected a scale above 0 that is finite, as its reciprocal; got 0");
  EXPECT_NE(message(-1, 0), "");
  EXPECT_NE(message(1e-60, 0), "");
  EXPECT_NE(message(1e60, 0), "");
  EXPECT_NE(message(std::nan(""), 0), "");
  EXPECT_EQ(message(1, 256), "[quantize 'layer'] expected a zero from 0 to 255; got 256");
  EXPECT_NE(message(1, -1), "");
}

}  // namespace
}  // namespace linnet::testing
