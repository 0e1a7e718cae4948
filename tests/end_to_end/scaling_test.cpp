// SPDX-License-Identifier: Apache-2.0
// What more threads can reach: the schedule of a stage, and what is measured for it.
#include <gtest/gtest.h>
#include <linnet/profile.h>
#include <linnet/scaling.h>

#include "analysis/stage_schedule.h"
#include "fixtures.h"
#include "message_of.h"
#include "needed_passes.h"
#include "networks/networks.h"

namespace linnet::testing {
namespace {

double seconds(const std::vector<double>& tasks, int threads, const HandOut& hand_out = {},
               int measured_at = 2) {
  return stage_seconds(tasks, threads, hand_out, measured_at);
}

TEST(StageSchedule, GivesTasksInOrderToTheThreadThatIsFreeFirst) {
  EXPECT_DOUBLE_EQ(seconds({1, 2, 3}, 1), 6);
  EXPECT_DOUBLE_EQ(seconds({1, 2, 3}, 2), 4);  // 1 and 3, 2
  EXPECT_DOUBLE_EQ(seconds({3, 1, 1, 1}, 2), 3);
  EXPECT_DOUBLE_EQ(seconds({1, 1, 1}, 2), 2);
  EXPECT_DOUBLE_EQ(seconds({2, 5}, 64), 5);
  EXPECT_DOUBLE_EQ(seconds({}, 4), 0);
}

TEST(StageSchedule, HandingOutCostsEachTaskAndEachStage) {
  const HandOut cost{.stage = 4, .task = 0.5};
  EXPECT_DOUBLE_EQ(seconds({1, 1}, 1, cost), 2);     // nothing is handed out
  EXPECT_DOUBLE_EQ(seconds({1, 1}, 2, cost), 5.5);   // measured at 2 threads
  EXPECT_DOUBLE_EQ(seconds({1, 1}, 8, cost), 13.5);  // three times as deep
  EXPECT_DOUBLE_EQ(seconds({1, 1}, 8, cost, 8), 5.5);
  // 100 ends of tasks in one place take longer than any thread has to do.
  EXPECT_DOUBLE_EQ(seconds(std::vector<double>(100, 0), 1024, {.stage = 0, .task = 0.5}), 50);
}

TEST(Scaling, OneThreadIsTheSumAndMoreAreBounded) {
  const Dataset data = sums_data(512);
  Model model(Network({2}, {Dense{.units = 64}, Tanh{}, Dense{.units = 2}}),
              {.device = "cpu", .threads = 2});
  const TrainingOptions options{.batch = 512,
                                .optimizer = Adam{},
                                .shuffle = false,
                                .disabled_passes = {"chain_samples"}};
  const ThreadScaling scaling = scaling_of_training(model, data, 512, 3, {1, 4, 40, 64}, options);
  EXPECT_EQ(scaling.judged, 40);
  EXPECT_EQ(scaling.measured_threads, 2);
  EXPECT_GT(scaling.stage_seconds, 0);
  ASSERT_EQ(scaling.points.size(), 4U);
  double alone = 0;
  double lost = 0;
  for (const OperatorScaling& op : scaling.operators) {
    EXPECT_GT(op.seconds, 0) << op.name;
    EXPECT_GE(op.seconds, op.longest) << op.name;
    EXPECT_GE(op.stages, 1) << op.name;
    EXPECT_GE(op.fewest, 1) << op.name;
    alone += op.seconds;
    lost += op.lost;
  }
  EXPECT_NEAR(scaling.points[0].seconds, alone, 1e-12);
  EXPECT_DOUBLE_EQ(scaling.points[0].efficiency, 1);
  EXPECT_NEAR(lost, 1 - scaling.points[2].efficiency, 1e-9);
  for (const ScalingPoint& point : scaling.points) {
    EXPECT_LE(point.efficiency, 1 + 1e-9);
    EXPECT_DOUBLE_EQ(point.speedup, point.efficiency * point.threads);
  }
  std::vector<std::string> names;
  for (const OperatorScaling& op : scaling.operators) names.push_back(op.name + op.shapes);
  std::vector<std::string> profiled;
  for (const OperatorProfile& op : profile_training(model, data, 512, 1, options).operators) {
    profiled.push_back(op.name + op.shapes);
  }
  EXPECT_EQ(names, profiled);
}

TEST(Scaling, AChainIsOneStageOfItsParts) {
  LINNET_NEEDS_PASSES("fuse_conv2d_pool", "fuse_epilogue", "fuse_gather_scale",
                      "fuse_softmax_cross_entropy");
  Model model(workloads::mnist_cnn(), {.device = "cpu", .threads = 1});
  const Dataset digits = datasets::digits(64, 0, 4).train;
  const TrainingOptions options{.batch = 64, .disabled_passes = known_passes({"fuse_small_cnn"})};
  const ThreadScaling scaling = scaling_of_training(model, digits, 64, 1, {4}, options);
  const auto chain =
      std::ranges::find(scaling.operators, "chain of 8 from gather_batch", &OperatorScaling::name);
  ASSERT_NE(chain, scaling.operators.end());
  EXPECT_EQ(chain->stages, 1);
  EXPECT_EQ(chain->fewest, 8) << "the parts of the batch";
  EXPECT_EQ(std::ranges::count(scaling.operators, "dense_grad_input", &OperatorScaling::name), 0);
}

TEST(Scaling, PredictionsRunWithoutGradients) {
  LINNET_NEEDS_PASSES("fuse_epilogue");
  Model model(Network({2}, {Dense{.units = 2}}), {.device = "cpu", .threads = 1});
  const ThreadScaling scaling = scaling_of_prediction(model, 8, 2, {32});
  ASSERT_FALSE(scaling.operators.empty());
  EXPECT_EQ(scaling.operators.back().name, "chain of 2 from gather_batch");
  EXPECT_EQ(scaling.operators.back().shapes, "(1, 2) -> (8, 2)");
}

TEST(Scaling, RefusesWhatCannotBeRun) {
  Model model(Network({2}, {Dense{.units = 2}}), {.device = "cpu", .threads = 1});
  EXPECT_EQ(message_of([&] { scaling_of_prediction(model, 8, 0, {4}); }),
            "expected at least 1 step; got 0");
  EXPECT_EQ(message_of([&] { scaling_of_prediction(model, 8, 1, {}); }),
            "expected at least one number of threads; got none");
  EXPECT_EQ(message_of([&] {
              scaling_of_prediction(model, 8, 1, {4, 0});
            }),
            "expected 1 to 4096 threads; got 0");
  EXPECT_NE(message_of([&] {
              scaling_of_training(model, sums_data(2), 3, 1, {4});
            }).find("expected at least 3 samples, one batch"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet::testing
