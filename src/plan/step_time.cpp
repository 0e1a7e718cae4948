// SPDX-License-Identifier: Apache-2.0
#include "plan/step_time.h"

#include <algorithm>

namespace linnet {

DeviceRates processor_rates(int threads) {
  // Measured on two cores of an Intel Sapphire Rapids: convolutions and products reach half of 240
  // GFLOP/s a core, memory 17 GB/s a core, and a stage of a step begins within 2 us.
  return {.flops_per_second = 120e9 * threads,
          .bytes_per_second = 17e9 * threads,
          .seconds_per_operator = 2e-6};
}

double predicted_seconds(const Cost& cost, const DeviceRates& rates) {
  return std::max(cost.flops / rates.flops_per_second, cost.bytes / rates.bytes_per_second) +
         rates.seconds_per_operator;
}

double predicted_seconds(const Plan& plan, const DeviceRates& rates) {
  double seconds = 0;
  for (std::size_t n = 0; n < plan.graph.nodes().size(); ++n) {
    if (!plan.runs(n)) continue;
    seconds += predicted_seconds(cost_of(plan.graph, plan.graph.nodes()[n]), rates);
  }
  return seconds;
}

}  // namespace linnet
