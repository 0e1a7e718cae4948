// SPDX-License-Identifier: Apache-2.0
#include "ops/mix_batch/mix_batch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "op_harness.h"
#include "ops/mix_batch/formulas.h"

namespace linnet::testing {
namespace {

TEST(MixBatch, AgreesWithTheReference) {
  for (std::uint64_t step = 0; step < 6; ++step) {  // with both, batches of either kind
    const auto check_at = [&](OpCase op_case) {
      op_case.gradient = false;
      op_case.step.step = step;
      check(op_case);
    };
    const OpPtr up = make_op(MixBatchOp({.mixup = 0.4}));
    const OpPtr cut = make_op(MixBatchOp({.cutmix = 1, .height = 9, .width = 7}));
    const OpPtr both = make_op(MixBatchOp({0.2, 1, 9, 7}));
    check_at({"mix-up", up, {f32({5, 3, 7})}});
    check_at({"mix-up one", up, {f32({1})}});
    check_at({"mix-up no sample", up, {f32({0, 4})}});
    check_at({"mix-up many tasks", up, {f32({40, 50, 61})}});
    check_at({"cut-mix", cut, {f32({5, 9, 7, 3})}});
    check_at({"cut-mix grey", cut, {f32({6, 9, 7, 1})}});
    check_at({"mix both", both, {f32({4, 9, 7, 2})}});
    check_at({"mix targets", make_op(MixTargetsOp({{0.2, 1, 9, 7}, 4})), {i32({5})}, {{0, 4}}});
    check_at({"mix no targets", make_op(MixTargetsOp({{0.2, 1, 9, 7}, 4})), {i32({0})}, {{0, 4}}});
    check_at(
        {"mix targets outside", make_op(MixTargetsOp({{.mixup = 1}, 3})), {i32({9})}, {{-1, 5}}});
    check_at(
        {"mix many targets", make_op(MixTargetsOp({{.mixup = 1}, 700})), {i32({64})}, {{0, 700}}});
    check_at({"mix values", make_op(MixTargetsOp({{.mixup = 1}, 1})), {f32({6, 2, 3})}});
  }
}

MixDraw draw(const MixRule& rule, std::uint64_t step) {
  return draw_mix(rule, {.seed = 9, .step = step});
}

TEST(MixBatch, PartsOfABatchShareTheDrawButNotThePartners) {
  const MixRule rule{.mixup = 0.2, .cutmix = 1, .height = 9, .width = 7};
  for (std::uint64_t step = 0; step < 6; ++step) {
    const MixDraw whole = draw_mix(rule, {.seed = 9, .step = step});
    const MixDraw part = draw_mix(rule, {.seed = 9, .step = step, .first_row = 5});
    EXPECT_EQ(part.share, whole.share);
    EXPECT_EQ(part.cut, whole.cut);
    EXPECT_EQ(part.top, whole.top);
    EXPECT_EQ(part.left, whole.left);
    EXPECT_NE(part.order, whole.order);
  }
}

TEST(MixBatch, SharesAreBeta) {
  for (double alpha : {0.05, 0.2, 1.0, 4.0}) {
    double mean = 0;
    double square = 0;
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) {
      const double l = draw({.mixup = alpha}, static_cast<std::uint64_t>(i)).share;
      EXPECT_GE(l, 0);
      EXPECT_LE(l, 1);
      mean += l / kDraws;
      square += (l - 0.5) * (l - 0.5) / kDraws;
    }
    EXPECT_NEAR(mean, 0.5, 0.012) << alpha;
    EXPECT_NEAR(square, 0.25 / (2 * alpha + 1), 0.005) << alpha;
  }
}

TEST(MixBatch, TheShareIsWhatTheBoxLeaves) {
  const MixRule rule{.cutmix = 1, .height = 32, .width = 24};
  double mean = 0;
  for (std::uint64_t step = 0; step < 4000; ++step) {
    const MixDraw d = draw(rule, step);
    ASSERT_TRUE(d.cut);
    std::int64_t kept = 0;
    for (std::int64_t p = 0; p < 32 * 24; ++p) kept += d.in_box(p / 24, p % 24) ? 0 : 1;
    EXPECT_DOUBLE_EQ(d.share, static_cast<double>(kept) / (32 * 24));
    mean += d.share / 4000;
  }
  EXPECT_GT(mean, 0.5);  // boxes are cut off at the edges
  EXPECT_LT(mean, 0.75);
}

TEST(MixBatch, PartnersAreAPermutationThatChanges) {
  const MixRule rule{.mixup = 1};
  std::set<std::int64_t> seen;
  int moved = 0;
  for (std::int64_t i = 0; i < 50; ++i) {
    const std::int64_t partner = draw(rule, 3).partner(i, 50);
    EXPECT_TRUE(seen.insert(partner).second);
    moved += partner != draw(rule, 4).partner(i, 50) ? 1 : 0;
  }
  EXPECT_GT(moved, 40);
  EXPECT_EQ(draw(rule, 3).share, draw(rule, 3).share);
  EXPECT_NE(draw(rule, 3).share, draw(rule, 4).share);
}

TEST(MixBatch, ACoinChoosesBetweenTheTwo) {
  int cuts = 0;
  for (std::uint64_t step = 0; step < 1000; ++step) cuts += draw({1, 1, 8, 8}, step).cut ? 1 : 0;
  EXPECT_NEAR(cuts, 500, 60);
}

TEST(MixBatch, NamesTheLayerAndWhatIsWrong) {
  EXPECT_EQ(inference_error(make_op(MixBatchOp()), {f32({8, 5})}, "samples"),
            "[mix_batch 'samples'] expected an alpha above 0 for mixup or cutmix; got 0 and 0");
  EXPECT_EQ(inference_error(make_op(MixBatchOp({0, 1, 4, 4})), {f32({8, 5})}, "samples"),
            "[mix_batch 'samples'] expected images (N, 4, 4, C); got f32 (8, 5)");
  EXPECT_EQ(inference_error(make_op(MixTargetsOp({{1}, 3})), {i32({8, 5})}, "targets"),
            "[mix_targets 'targets'] expected i32 labels (N) or f32 values (N, ...); got "
            "targets=(8, 5)");
}

}  // namespace
}  // namespace linnet::testing
