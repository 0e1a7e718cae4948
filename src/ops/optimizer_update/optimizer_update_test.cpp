// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer_update/optimizer_update.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

/// Second moments are not negative.
void check_rule(const std::string& name, const OptimizerAttrs& attrs, std::int64_t length) {
  std::vector<ValueType> operands(2 + static_cast<std::size_t>(moments(attrs)), f32({length}));
  std::vector<Fill> fills(operands.size(), {0.01, 1});
  fills[0] = fills[1] = {-1, 1};
  if (attrs.clip_norm > 0) {
    operands.push_back(f32({}));
    fills.push_back({2, 3});
  }
  check({name, make_op(OptimizerUpdateOp(attrs)), operands, fills, false});
}

TEST(OptimizerUpdate, AgreesWithTheReference) {
  using Kind = Optimizer::Kind;
  for (std::int64_t length : {1, 19, 64, 100003}) {
    check_rule("sgd", {.kind = Kind::sgd}, length);
    check_rule("momentum", {.kind = Kind::sgd, .momentum = 0.9, .weight_decay = 1e-2}, length);
    check_rule("nesterov", {.kind = Kind::sgd, .momentum = 0.9, .nesterov = true}, length);
    check_rule("adam", {.kind = Kind::adam, .clip_norm = 0.7}, length);
    check_rule("adamw", {.kind = Kind::adamw, .weight_decay = 0.1}, length);
    check_rule("rmsprop", {.kind = Kind::rmsprop}, length);
    check_rule("rmsprop momentum", {.kind = Kind::rmsprop, .momentum = 0.5}, length);
  }
}

TEST(OptimizerUpdate, GlobalNorm) {
  check({"norm", make_op(GlobalNormOp()), {f32({100003})}, {{-3, 3}}, false});
  check({"norm of nothing", make_op(GlobalNormOp()), {f32({0})}, {}, false});
}

TEST(OptimizerUpdate, SchedulesAreTheirFormulas) {
  OptimizerAttrs attrs{.learning_rate = 0.8, .warmup_steps = 4, .every_steps = 10,
                       .total_steps = 24, .gamma = 0.5, .floor = 0.1};
  EXPECT_DOUBLE_EQ(learning_rate_at(attrs, 0), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate_at(attrs, 3), 0.8);
  EXPECT_DOUBLE_EQ(learning_rate_at(attrs, 1000), 0.8);
  attrs.schedule = Schedule::Kind::step;
  EXPECT_DOUBLE_EQ(learning_rate_at(attrs, 9), 0.8);
  EXPECT_DOUBLE_EQ(learning_rate_at(attrs, 10), 0.4);
  EXPECT_DOUBLE_EQ(learning_rate_at(attrs, 29), 0.2);
  attrs.schedule = Schedule::Kind::cosine;
  EXPECT_DOUBLE_EQ(learning_rate_at(attrs, 4), 0.8);
  EXPECT_DOUBLE_EQ(learning_rate_at(attrs, 14), 0.8 * (0.1 + 0.9 * 0.5));
  EXPECT_NEAR(learning_rate_at(attrs, 24), 0.08, 1e-12);
  EXPECT_NEAR(learning_rate_at(attrs, 1000), 0.08, 1e-12);
}

}  // namespace
}  // namespace linnet::testing
