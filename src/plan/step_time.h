// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/plan.h"

namespace linnet {

/// What a device does in its good operators, for predictions. An operator takes as long as its
/// arithmetic or its memory traffic (Op::cost), whichever is longer, and what starting it costs.
struct DeviceRates {
  double flops_per_second;
  double bytes_per_second;
  double seconds_per_operator;
};

/// Returns the rates of so many processors with vectors of 16 floats and the memory of a small
/// server. Only ratios of what they predict mean something on another machine: a byte costs 14
/// FLOPs.
DeviceRates processor_rates(int threads);

/// Returns how long an operator takes.
double predicted_seconds(const Cost& cost, const DeviceRates& rates);

/// Returns how long a run of a plan takes.
double predicted_seconds(const Plan& plan, const DeviceRates& rates);

}  // namespace linnet
