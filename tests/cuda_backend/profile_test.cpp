// SPDX-License-Identifier: Apache-2.0
// Profiles on the simulated device: events between operators, in graphs and in the stream.
#include <gtest/gtest.h>

#include "../end_to_end/fixtures.h"
#include "simulated_model.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kBatch = 4;
constexpr std::int64_t kSteps = 4;

TrainingOptions unshuffled(std::int64_t epochs = 1) {
  return {.epochs = epochs, .batch = kBatch, .optimizer = adam(1e-2), .shuffle = false};
}

Network perceptron() { return Network({2}, {Dense{.units = 6}, Tanh{}, Dense{.units = 2}}); }

struct Watched {
  Profile profile;
  std::vector<float> weights;
  cuda::sim::Counters counters;
};

Watched watch(const CudaOptions& options) {
  Model model = simulated_model(perceptron(), options, 5);
  cuda::sim::clear();
  Watched watched{profile_training(model, sums_data(kBatch), kBatch, kSteps, unshuffled()), {}, {}};
  watched.counters = cuda::sim::counters();
  for (const std::string& name : model.parameter_names()) {
    const std::vector<float> values = model.parameter(name);
    watched.weights.insert(watched.weights.end(), values.begin(), values.end());
  }
  return watched;
}

std::vector<float> trained_weights(std::int64_t steps) {
  Model model = simulated_model(perceptron(), {}, 5);
  train(model, sums_data(kBatch), unshuffled(steps));
  std::vector<float> all;
  for (const std::string& name : model.parameter_names()) {
    const std::vector<float> values = model.parameter(name);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

std::vector<std::string> layers_of(const Profile& profile, const std::string& name) {
  std::vector<std::string> layers;
  for (const OperatorProfile& op : profile.operators) {
    if (op.name == name) layers.push_back(op.layer);
  }
  return layers;
}

void expect_times(const Profile& profile) {
  double shares = 0;
  double end = 0;
  for (const OperatorProfile& op : profile.operators) {
    EXPECT_GT(op.seconds, 0) << op.name << " " << op.layer;
    shares += op.share;
    end += op.seconds;
  }
  EXPECT_NEAR(shares, 1, 1e-12);
  EXPECT_DOUBLE_EQ(profile.operator_seconds, end);
}

TEST(CudaProfile, StepsAreWatchedInAGraph) {
  const MachineGuard machine;
  const Watched watched = watch({});
  expect_times(watched.profile);
  EXPECT_EQ(watched.profile.device, "cuda");
  EXPECT_TRUE(watched.profile.notes.empty());
  EXPECT_EQ(watched.counters.graph_launches, 2U + kSteps);  // a loop before and after
  // The first layer's tanh is a part of its product.
  EXPECT_EQ(layers_of(watched.profile, "dense"), (std::vector<std::string>{"tanh_1", "dense_2"}));
}

TEST(CudaProfile, WithoutGraphsKernelsAreTimedInTheStream) {
  const MachineGuard machine;
  const Watched watched = watch({.graph_steps = 0});
  expect_times(watched.profile);
  EXPECT_EQ(watched.counters.graph_launches, 0U);
  EXPECT_TRUE(watched.profile.notes.empty());
}

TEST(CudaProfile, WatchedStepsTrainLikeAnyOther) {
  const MachineGuard machine;
  const std::vector<float> expected = trained_weights(3 * kSteps);
  for (std::int64_t steps : {-1, 0, 1, 3}) {
    EXPECT_EQ(watch({.graph_steps = steps}).weights, expected) << steps << " steps a launch";
  }
}

TEST(CudaProfile, EventsThatGraphsRefuseAreRecordedInTheStream) {
  const MachineGuard machine;
  const Watched graph = watch({});
  cuda::sim::device().event_nodes = false;
  const Watched stream = watch({});
  expect_times(stream.profile);
  EXPECT_EQ(stream.weights, graph.weights);
  ASSERT_EQ(stream.profile.notes.size(), 1U);
  EXPECT_NE(stream.profile.notes[0].find("kernels are timed one by one"), std::string::npos)
      << stream.profile.notes[0];
}

}  // namespace
}  // namespace linnet::testing
