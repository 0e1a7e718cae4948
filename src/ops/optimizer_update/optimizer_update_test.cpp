// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer_update/optimizer_update.h"

#include <gtest/gtest.h>

#include "op_harness.h"
#include "ops/optimizer_update/update_rule.h"

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
    check_rule("adam penalty", {.kind = Kind::adam, .weight_decay = 0.1}, length);
    check_rule("adamw", {.kind = Kind::adamw, .weight_decay = 0.1}, length);
    check_rule("rmsprop", {.kind = Kind::rmsprop}, length);
    check_rule("rmsprop momentum", {.kind = Kind::rmsprop, .momentum = 0.5}, length);
  }
  check_rule("cosine", {.schedule = Schedule::Kind::cosine, .total_steps = 9}, 64);
  check_rule("steps", {.schedule = Schedule::Kind::step, .every_steps = 2}, 64);
  check_rule("adam, several elements a thread", {.kind = Kind::adam}, 700001);
}

TEST(OptimizerUpdate, GlobalNorm) {
  check({"norm", make_op(GlobalNormOp()), {f32({100003})}, {{-3, 3}}, false});
  check({"norm of few", make_op(GlobalNormOp()), {f32({1003})}, {{-3, 3}}, false});
  check({"norm of nothing", make_op(GlobalNormOp()), {f32({0})}, {}, false});
}

/// Numbers worked out by hand: reference and kernel share these factors.
TEST(OptimizerUpdate, FactorsAreTheirFormulas) {
  OptimizerAttrs attrs{.kind = Optimizer::Kind::adam,
                       .learning_rate = 0.1,
                       .beta1 = 0.9,
                       .beta2 = 0.99,
                       .alpha = 0.8,
                       .weight_decay = 0.2,
                       .clip_norm = 2};
  const UpdateFactors adam = update_factors(attrs, {.update = 1}, 4);
  EXPECT_FLOAT_EQ(adam.rate, 0.1F / 0.19F);
  EXPECT_FLOAT_EQ(adam.first_keep, 0.9F);
  EXPECT_FLOAT_EQ(adam.first_add, 0.1F);
  EXPECT_FLOAT_EQ(adam.second_keep, 0.99F);
  EXPECT_FLOAT_EQ(adam.second_add, 0.01F);
  EXPECT_FLOAT_EQ(adam.second_scale, 7.0888121F);  // 1 / sqrt(1 - 0.9801)
  EXPECT_FLOAT_EQ(adam.penalty, 0.2F);
  EXPECT_EQ(adam.decay, 1);
  EXPECT_FLOAT_EQ(adam.clip, 0.5F);
  EXPECT_EQ(update_factors(attrs, {.update = 1}, 1).clip, 1);
  attrs.kind = Optimizer::Kind::adamw;
  EXPECT_EQ(update_factors(attrs, {.update = 1}, 1).penalty, 0);
  EXPECT_FLOAT_EQ(update_factors(attrs, {.update = 1}, 1).decay, 0.98F);
  attrs.kind = Optimizer::Kind::rmsprop;
  const UpdateFactors rmsprop = update_factors(attrs, {.update = 1}, 1);
  EXPECT_FLOAT_EQ(rmsprop.rate, 0.1F);
  EXPECT_FLOAT_EQ(rmsprop.second_keep, 0.8F);
  EXPECT_FLOAT_EQ(rmsprop.second_add, 0.2F);
  EXPECT_FLOAT_EQ(rmsprop.penalty, 0.2F);
  EXPECT_EQ(rmsprop.second_scale, 1);
  attrs = {.kind = Optimizer::Kind::sgd, .learning_rate = 0.1, .momentum = 0.7};
  const UpdateFactors sgd = update_factors(attrs, {.update = 1}, 100);
  EXPECT_FLOAT_EQ(sgd.rate, 0.1F);
  EXPECT_FLOAT_EQ(sgd.first_keep, 0.7F);
  EXPECT_EQ(sgd.penalty, 0);
  EXPECT_EQ(sgd.clip, 1);
  EXPECT_FLOAT_EQ(update_factors(attrs, {.update = 1, .rate_factor = 0.5}, 100).rate, 0.05F);
}

/// What kernels compute instead of the library's powers.
TEST(OptimizerUpdate, SquaringGivesTheLibrarysPowers) {
  OptimizerAttrs attrs{.kind = Optimizer::Kind::adam,
                       .learning_rate = 0.1,
                       .beta2 = 0.9999,
                       .schedule = Schedule::Kind::step,
                       .every_steps = 7,
                       .gamma = 0.99};
  for (std::uint64_t step : {0ULL, 1ULL, 2ULL, 6ULL, 7ULL, 99ULL, 4095ULL, 100000ULL, 1ULL << 50}) {
    const double n = static_cast<double>(step);
    const double expected = LibraryPower()(attrs.beta2, n);
    EXPECT_NEAR(SquaringPower()(attrs.beta2, n), expected, (n + 1) * 2e-16 * expected);
    const UpdateFactors host = update_factors(attrs, {.update = step}, 0);
    const UpdateFactors kernel = update_factors(attrs, {.update = step}, 0, SquaringPower());
    EXPECT_FLOAT_EQ(kernel.rate, host.rate);
    EXPECT_FLOAT_EQ(kernel.second_scale, host.second_scale);
  }
}

TEST(OptimizerUpdate, SchedulesAreTheirFormulas) {
  OptimizerAttrs attrs{.learning_rate = 0.8,
                       .warmup_steps = 4,
                       .every_steps = 10,
                       .total_steps = 24,
                       .gamma = 0.5,
                       .floor = 0.1};
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
