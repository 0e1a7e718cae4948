// SPDX-License-Identifier: Apache-2.0
#include "ops/row_loss/row_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(RowLoss, AgreesWithTheReference) {
  const std::vector<Fill> fills{{-3, 3}, {0.1, 1}};
  const std::vector<bool> by_outputs{true, false};
  for (RowLoss kind : {RowLoss::hinge, RowLoss::cosine}) {
    for (bool mean : {false, true}) {
      const OpPtr op = make_op(RowLossOp({kind, mean}));
      check({"row_loss", op, {f32({5, 3}), f32({5, 3})}, fills, true, by_outputs});
      check({"row_loss places", op, {f32({2, 3, 4}), f32({2, 3, 4})}, fills, true, by_outputs});
      check({"row_loss one column", op, {f32({3, 1}), f32({3, 1})}, fills, false});
      check({"row_loss no sample", op, {f32({0, 4}), f32({0, 4})}, fills, false});
      check({"row_loss many tasks", op, {f32({20000, 7}), f32({20000, 7})}, fills, false});
      check({"row_loss_grad many tasks",
             make_op(RowLossGradOp({kind, mean})),
             {f32({}), f32({3000, 37}), f32({3000, 37})},
             {{-1, 1}, {-3, 3}, {0.1, 1}},
             false});
    }
  }
}

/// Loss and dy of rows of three.
std::vector<std::vector<double>> loss_and_slope(const RowLossAttrs& attrs, std::vector<double> y,
                                                std::vector<double> t, double tolerance = 2e-5) {
  Graph graph;
  const ValueType type = f32({static_cast<std::int64_t>(y.size() / 3), 3});
  const Value dloss = graph.add_value("dloss", f32({}), Storage::external, 0);
  const Value out = graph.add_value("y", type, Storage::external, 1);
  const Value target = graph.add_value("t", type, Storage::external, 2);
  const Value loss = graph.emit(RowLossOp(attrs), {out, target}, "loss");
  const Value dy = graph.emit(RowLossGradOp(attrs), {dloss, out, target}, "loss");
  const std::vector<std::vector<double>> data{{1}, std::move(y), std::move(t)};
  compare_with_reference(graph, {dloss, out, target}, data, {loss, dy}, tolerance);
  return run(graph, {dloss, out, target}, data, {loss, dy});
}

TEST(RowLoss, HingeTakesTheWeightOfTheFirstTarget) {
  // Margins 1 - 1 + 2 = 2 and 1 - 1 - 3 < 0; a third of 2, times the weight 1.5; an ignored row.
  const auto got = loss_and_slope({RowLoss::hinge}, {2, 1, -3, 5, 6, 7}, {0, 1.5, 0, 0, 0, 0});
  EXPECT_DOUBLE_EQ(got[0][0], 1);
  EXPECT_EQ(got[1], (std::vector<double>{0.5, -0.5, 0, 0, 0, 0}));
}

TEST(RowLoss, CosineIsZeroForOneDirectionAndTwoForTheOther) {
  // The slope is what rounding leaves of 0: an H200 leaves 1.0005 times as much as a CPU.
  constexpr double kRounding = 1e-2;
  const auto loss = [](std::vector<double> t) {
    return loss_and_slope({RowLoss::cosine, true}, {1, 2, 3}, std::move(t), kRounding)[0][0];
  };
  EXPECT_NEAR(loss({2, 4, 6}), 0, 1e-7);
  EXPECT_NEAR(loss({-1, -2, -3}), 2, 1e-7);
  EXPECT_DOUBLE_EQ(loss_and_slope({RowLoss::cosine, true}, {0, 0, 0}, {1, 2, 3})[0][0], 1);
}

TEST(RowLoss, ANaNGivesNaN) {
  for (RowLoss kind : {RowLoss::hinge, RowLoss::cosine}) {
    const auto got = loss_and_slope({kind}, {std::nan(""), 1, 2}, {0, 1, 0});
    EXPECT_TRUE(std::isnan(got[0][0]) && std::isnan(got[1][0])) << static_cast<int>(kind);
  }
}

TEST(RowLoss, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(RowLossOp()), {f32({8, 5}), f32({8, 1})}, "loss"),
            "[row_loss 'loss'] expected outputs and targets of one shape (..., C); got y=(8, 5), "
            "target=(8, 1)");
}

}  // namespace
}  // namespace linnet::testing
