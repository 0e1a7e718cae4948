// SPDX-License-Identifier: Apache-2.0
// Profiles on the device: events between operators, in graphs and in the stream.
#include <cstdint>

#include "cuda_model.h"
#include "end_to_end/needed_passes.h"
#include "small_profiles.h"

namespace linnet::testing {
namespace {

class CudaProfile : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Engines, CudaProfile, ::testing::ValuesIn(tested_engines()), engines_name);

std::vector<std::string> layers_of(const Profile& profile, const std::string& name) {
  std::vector<std::string> layers;
  for (const OperatorProfile& op : profile.operators) {
    if (op.name == name) layers.push_back(op.layer);
  }
  return layers;
}

TEST_P(CudaProfile, StepsAreWatchedInAGraph) {
  LINNET_NEEDS_PASSES("fuse_epilogue");
  Model watched = model(perceptron(), {}, 5);
  const Profile profile = profile_of(watched);
  expect_times(profile);
  EXPECT_EQ(profile.device, "cuda");
  EXPECT_TRUE(profile.notes.empty()) << profile.notes.front();
  // The first layer's tanh is a part of its product.
  EXPECT_EQ(layers_of(profile, "dense"), (std::vector<std::string>{"tanh_1", "dense_2"}));
}

TEST_P(CudaProfile, WithoutGraphsKernelsAreTimedInTheStream) {
  Model watched = model(perceptron(), {.graph_steps = 0}, 5);
  const Profile profile = profile_of(watched);
  expect_times(profile);
  EXPECT_TRUE(profile.notes.empty()) << profile.notes.front();
}

TEST_P(CudaProfile, WatchedStepsTrainLikeAnyOther) {
  Model trained = model(perceptron(), {}, 5);
  train(trained, sums_data(kProfileBatch), unshuffled(3 * kProfileSteps));
  for (std::int64_t steps : {-1, 0, 1, 3}) {
    Model watched = model(perceptron(), {.graph_steps = steps}, 5);
    profile_of(watched);
    EXPECT_EQ(all_weights(watched), all_weights(trained)) << steps << " steps a launch";
  }
}

}  // namespace
}  // namespace linnet::testing
