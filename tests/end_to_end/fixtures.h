// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/linnet.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/step_graph.h"
#include "plan/plan.h"
#include "weights.h"

namespace linnet::testing {

/// Two-class points in the plane, bytes: inside a circle or not.
Dataset circle_data(std::int64_t count, std::uint64_t seed = 1);
/// y = the sum and the difference of two numbers in [-1, 1).
Dataset sums_data(std::int64_t count, std::uint64_t seed = 1);

/// A network with every kind of layer that trains, on (8, 8, 1).
Network every_layer();

/// The weights' bits after `steps` training steps of `network` on `data`, run as one program.
struct RunOptions {
  std::int64_t batch = 4;
  int threads = 2;
  std::uint64_t steps = 5;
  PlanOptions plan = {};
  std::vector<std::string> disabled_passes = {};
  bool checked = false;  ///< operator by operator on poisoned memory
};
std::vector<float> weights_after(const Network& network, const Dataset& data,
                                 const RunOptions& options);

/// Returns those of these passes that there are: for disabled_passes, since a build may lack a
/// fusion.
std::vector<std::string> known_passes(const std::vector<std::string>& names);

}  // namespace linnet::testing
