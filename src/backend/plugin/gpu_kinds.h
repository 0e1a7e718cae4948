// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/devices.h>

#include <string>
#include <string_view>

#include "plan/step_counts.h"

namespace linnet {

/// Describes a GPU for which steps can be planned, and their time predicted, without it.
struct GpuKind {
  std::string_view name;    ///< "h200"
  std::string_view target;  ///< "sm_90", as nvcc names its compute capability
  int compute_capability = 0;
  int multiprocessors = 0;
  GpuSpeed speed = {};

  /// Returns the device as a plug-in describes devices.
  CudaDevice device() const;
};

/// Returns the GPU of that name, or where `name` is empty the first one of the target. Throws Error
/// for a target or a name that is not known, naming those that are.
const GpuKind& gpu_kind(const std::string& target, const std::string& name);

}  // namespace linnet
