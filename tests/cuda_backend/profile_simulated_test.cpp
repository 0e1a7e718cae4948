// SPDX-License-Identifier: Apache-2.0
// Profiles as the simulator sees them: launches, and a driver that refuses events in graphs.
#include <string>

#include "simulated_model.h"
#include "small_profiles.h"

namespace linnet::testing {
namespace {

std::size_t graph_launches(const CudaOptions& options) {
  Model model = cuda_model(perceptron(), options, 5);
  cuda::sim::clear();
  profile_of(model);
  return cuda::sim::counters().graph_launches;
}

TEST(SimulatedProfile, EveryWatchedStepIsOneLaunch) {
  const MachineGuard machine;
  EXPECT_EQ(graph_launches({}), 2U + kProfileSteps);  // a loop before and after
  EXPECT_EQ(graph_launches({.graph_steps = 0}), 0U);
}

TEST(SimulatedProfile, EventsThatGraphsRefuseAreRecordedInTheStream) {
  const MachineGuard machine;
  Model graph = cuda_model(perceptron(), {}, 5);
  profile_of(graph);
  cuda::sim::device().event_nodes = false;
  Model stream = cuda_model(perceptron(), {}, 5);
  const Profile profile = profile_of(stream);
  expect_times(profile);
  EXPECT_EQ(all_weights(stream), all_weights(graph));
  ASSERT_EQ(profile.notes.size(), 1U);
  EXPECT_NE(profile.notes[0].find("kernels are timed one by one"), std::string::npos)
      << profile.notes[0];
}

}  // namespace
}  // namespace linnet::testing
