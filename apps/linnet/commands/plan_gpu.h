// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/workloads.h"

namespace linnet::command {

/// Says for which GPU a step is planned, and how that is shown.
struct GpuPlanOptions {
  std::string target;  ///< "sm_90"
  std::string gpu;     ///< "h200"; empty: the target's first
  std::string dump;    ///< "graph" or "plan": as text; empty: counts
  bool json = false;
};

/// Plans the job's training step for a GPU that need not be there, and prints it. Throws Error for
/// a GPU that is not described, and DeviceError where the plug-in is missing.
void print_gpu_plan(const Job& job, const ModelOptions& on, const GpuPlanOptions& options);

}  // namespace linnet::command
