// SPDX-License-Identifier: Apache-2.0
// A profile names what runs, and watched steps are steps like any other.
#include <gtest/gtest.h>

#include <functional>

#include "fixtures.h"
#include "message_of.h"
#include "model/session.h"
#include "needed_passes.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kBatch = 4;

TrainingOptions unshuffled(std::int64_t epochs = 1) {
  return {.epochs = epochs,
          .batch = kBatch,
          .optimizer = Adam{.learning_rate = 1e-2},
          .shuffle = false};
}

Network perceptron() { return Network({2}, {Dense{.units = 6}, Tanh{}, Dense{.units = 2}}); }

/// "dense dense_1": the nodes that run in a training step, in order.
std::vector<std::string> nodes_that_run(Model& model, const Dataset& data, Loss loss) {
  const Session session(model.state());
  const TrainingOptions options = unshuffled();
  const auto program = model.state().backend->prepare(
      training_step(model.state().definition(),
                    step_data(model.state().definition(), data, {.loss = loss}),
                    {.batch = kBatch,
                     .shuffle = options.shuffle,
                     .optimizer = resolve({.optimizer = options.optimizer}, 1, 1)},
                    session.supports()),
      {});
  const Plan& plan = program->plan();
  std::vector<std::string> names;
  for (std::size_t n = 0; n < plan.graph.nodes().size(); ++n) {
    const Node& node = plan.graph.nodes()[n];
    if (plan.runs(n)) names.push_back(std::string(node.op->name()) + " " + node.name);
  }
  return names;
}

TEST(Profile, NamesEveryNodeThatRunsOnceInOrder) {
  const Dataset data = sums_data(kBatch);
  Model model(perceptron(), {.device = "cpu", .threads = 2});
  const Profile profile = profile_training(model, data, kBatch, 3, unshuffled());
  std::vector<std::string> names;
  for (const OperatorProfile& op : profile.operators) names.push_back(op.name + " " + op.layer);
  EXPECT_EQ(names, nodes_that_run(model, data, Loss::mse));
  EXPECT_EQ(profile.device, "cpu");
  EXPECT_EQ(profile.batch, kBatch);
  EXPECT_EQ(profile.steps, 3);
}

TEST(Profile, SharesAddUpAndRatesFollowFromTimes) {
  Model model(perceptron(), {.device = "cpu", .threads = 1});
  const Profile profile = profile_training(model, sums_data(kBatch), kBatch, 5, unshuffled());
  double shares = 0;
  double seconds = 0;
  double flops = 0;
  for (const OperatorProfile& op : profile.operators) {
    EXPECT_GT(op.seconds, 0) << op.name;
    EXPECT_GE(op.start, 0) << op.name;
    EXPECT_DOUBLE_EQ(op.share, op.seconds / profile.operator_seconds) << op.name;
    EXPECT_DOUBLE_EQ(op.flops_per_second, op.flops / op.seconds) << op.name;
    EXPECT_DOUBLE_EQ(op.bytes_per_second, op.bytes / op.seconds) << op.name;
    shares += op.share;
    seconds += op.seconds;
    flops += op.flops;
  }
  EXPECT_NEAR(shares, 1, 1e-12);
  EXPECT_DOUBLE_EQ(profile.operator_seconds, seconds);
  EXPECT_GT(profile.step_seconds, 0);
  EXPECT_GE(flops, 2.0 * kBatch * (2 * 6 + 6 * 2));  // the forward products alone
}

TEST(Profile, OperatorsOfOneStepFollowEachOther) {
  Model model(perceptron(), {.device = "cpu", .threads = 2});
  const Profile profile = profile_training(model, sums_data(kBatch), kBatch, 1, unshuffled());
  double end = 0;
  ASSERT_GT(profile.operators.size(), 1U);
  for (const OperatorProfile& op : profile.operators) {
    EXPECT_GE(op.start, end) << op.name;
    end = op.start + op.seconds;
  }
}

TEST(Profile, WatchedStepsTrainLikeAnyOther) {
  const Dataset data = sums_data(kBatch);
  Model expected(perceptron(), {.device = "cpu", .threads = 1, .seed = 5});
  train(expected, data, unshuffled(12));  // an epoch is a step
  Model watched(perceptron(), {.device = "cpu", .threads = 3, .seed = 5});
  profile_training(watched, data, kBatch, 4, unshuffled());  // before, watched, after: 4 each
  EXPECT_EQ(all_weights(watched), all_weights(expected));
}

TEST(Profile, PredictionsRunNoGradientAndChangeNoWeight) {
  LINNET_NEEDS_PASSES("fuse_epilogue");
  Model model(perceptron(), {.device = "cpu", .threads = 2, .seed = 5});
  const std::vector<float> before = all_weights(model);
  const Profile profile = profile_prediction(model, kBatch, 3);
  std::vector<std::string> names;
  for (const OperatorProfile& op : profile.operators) names.push_back(op.name);
  EXPECT_EQ(names, (std::vector<std::string>{"gather_batch", "dense", "dense"}));
  EXPECT_EQ(profile.batch, kBatch);
  EXPECT_GT(profile.step_seconds, 0);
  EXPECT_EQ(all_weights(model), before);
}

TEST(Profile, RefusesWhatCannotBeRun) {
  Model model(perceptron(), {.device = "cpu", .threads = 1});
  const Dataset data = sums_data(3);
  EXPECT_EQ(message_of([&] { profile_training(model, data, 2, 0); }),
            "expected at least 1 step; got 0");
  EXPECT_EQ(message_of([&] { profile_training(model, data, 0, 1); }),
            "expected a batch of at least 1; got 0");
  EXPECT_EQ(message_of([&] { profile_prediction(model, 2, 0); }),
            "expected at least 1 step; got 0");
  EXPECT_EQ(message_of([&] { profile_prediction(model, 0, 1); }),
            "expected a batch of at least 1; got 0");
  EXPECT_NE(message_of([&] {
              profile_training(model, data, 4, 1);
            }).find("expected at least 4 samples, one batch"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet::testing
