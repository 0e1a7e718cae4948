// SPDX-License-Identifier: Apache-2.0
#include "ops/loss_scale/loss_scale.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

/// The scale and whether the training stays stopped, after one step.
struct After {
  std::vector<double> scale;
  double stopped = 0;
  bool operator==(const After&) const = default;
};

After after(std::vector<double> scale, double stopped, double bad_losses = 0) {
  Graph graph;
  const Value state =
      graph.add_value("scale", {DType::f32, Shape{kLossScaleSize}}, Storage::external, 0);
  const Value flag = graph.add_value("stopped", {DType::f64, Shape{}}, Storage::external, 1);
  const Value counters =
      graph.add_value("counters", {DType::f64, Shape{kCounters}}, Storage::external, 2);
  const std::vector<Value> all{state, flag, counters};
  graph.add(make_op(LossScaleOp({.interval = 3})), all, "scale");
  std::vector<double> counted(kCounters, 0);
  counted[static_cast<std::size_t>(Counter::not_finite)] = bad_losses;
  const std::vector<std::vector<double>> data{std::move(scale), {stopped}, counted};
  const StepInfo step{.step = 41};
  compare_with_reference(graph, all, data, {state, flag}, 0, step);
  const auto results = run(graph, all, data, {state, flag}, step);
  return {results[0], results[1][0]};
}

TEST(LossScale, DoublesAfterTheInterval) {
  EXPECT_EQ(after({1024, 0, 5}, 0), (After{{1024, 1, 5}, 0}));
  EXPECT_EQ(after({1024, 1, 5}, 0), (After{{1024, 2, 5}, 0}));
  EXPECT_EQ(after({1024, 2, 5}, 0), (After{{2048, 0, 5}, 0}));
  EXPECT_EQ(after({kMostLossScale, 2, 5}, 0), (After{{kMostLossScale, 0, 5}, 0}));
}

TEST(LossScale, HalvesAndGoesOnWhereAGradientOverflowed) {
  EXPECT_EQ(after({1024, 2, 5}, 42), (After{{512, 0, 6}, 0}));
}

TEST(LossScale, StaysStoppedWhereASmallerOneWouldNotHelp) {
  EXPECT_EQ(after({1024, 2, 5}, 42, 1), (After{{1024, 2, 5}, 42}));  // the loss is not finite
  EXPECT_EQ(after({kLeastLossScale, 2, 5}, 42), (After{{kLeastLossScale, 2, 5}, 42}));
  EXPECT_EQ(after({1024, 2, 5}, 30), (After{{1024, 2, 5}, 30}));  // in an earlier step
}

}  // namespace
}  // namespace linnet::testing
