// SPDX-License-Identifier: Apache-2.0
#include "ops/collect/collect.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

OpCase collect(std::int64_t length, const std::vector<std::int64_t>& begins,
               const std::vector<Shape>& shapes) {
  OpCase op_case{"collect", make_op(CollectOp({.length = length, .begins = begins})), {}};
  for (const Shape& shape : shapes) op_case.inputs.push_back(f32(shape));
  op_case.devices = {"CPU"};
  op_case.gradient = false;
  return op_case;
}

TEST(Collect, AgreesWithTheReference) {
  check(collect(12, {0, 6}, {{2, 3}, {6}}));
  check(collect(40, {3, 16, 32}, {{2, 3}, {}, {0, 2}}));  // zeros before, between and after
  check(collect(5, {}, {}));
  check(collect(3'000'000, {64, 1'500'032}, {{1'400'000}, {1'000, 1'100}}));  // several tasks
}

TEST(Collect, NamesWhatDoesNotFit) {
  const OpPtr op = make_op(CollectOp({.length = 16, .begins = {0, 8}}));
  EXPECT_EQ(inference_error(op, {f32({4})}), "[collect 'layer'] expected 2 operands; got 1");
  EXPECT_EQ(inference_error(op, {f32({9}), f32({2})}),
            "[collect 'layer'] operand 1 begins at 8, before the end of the one before");
  EXPECT_EQ(inference_error(op, {f32({4}), f32({9})}),
            "[collect 'layer'] expected operands within 16 elements; they end at 17");
}

}  // namespace
}  // namespace linnet::testing
