// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is profiled, on the device and in the simulator's own tests.
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <cstdint>

#include "../end_to_end/fixtures.h"

namespace linnet::testing {

inline constexpr std::int64_t kProfileBatch = 4;
inline constexpr std::int64_t kProfileSteps = 4;

inline TrainingOptions unshuffled(std::int64_t epochs = 1) {
  return {.epochs = epochs,
          .batch = kProfileBatch,
          .optimizer = Adam{.learning_rate = 1e-2},
          .shuffle = false};
}

inline Network perceptron() { return Network({2}, {Dense{.units = 6}, Tanh{}, Dense{.units = 2}}); }

inline Profile profile_of(Model& model) {
  return profile_training(model, sums_data(kProfileBatch), kProfileBatch, kProfileSteps,
                          unshuffled());
}

inline void expect_times(const Profile& profile) {
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

}  // namespace linnet::testing
