// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/devices.h>

#include <string>

#include "config/workloads.h"
#include "runtime/step_counts.h"

namespace linnet::command {

/// Describes what is planned for a GPU that need not be there, and its counts.
struct PlannedForGpu {
  const Job& job;
  const ModelOptions& on;
  const std::string& target;
  bool infer;  ///< a prediction of a batch, instead of a training step
  StepCounts counts;
};

/// Returns the device that `target` stands for, "sm_90". Throws Error naming the targets that are
/// known.
CudaDevice described_gpu(const std::string& target);

void print_gpu_counts(const PlannedForGpu& planned, bool json);

}  // namespace linnet::command
