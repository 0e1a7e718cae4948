// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/devices.h>

#include "backend/plugin/gpu_kinds.h"
#include "config/workloads.h"

namespace linnet::command {

/// Describes what is planned for a GPU that need not be there, and its counts.
struct PlannedForGpu {
  const Job& job;
  const ModelOptions& on;
  const GpuKind& gpu;
  bool infer;  ///< a prediction of a batch, instead of a training step
  StepCounts counts;
};

void print_gpu_counts(const PlannedForGpu& planned, bool json);

}  // namespace linnet::command
