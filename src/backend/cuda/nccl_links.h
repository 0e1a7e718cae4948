// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backend/cuda/device.h"
#include "runtime/device_ranks.h"

namespace linnet::cuda {

/// Returns whether NCCL is built in and installed.
bool has_nccl();
/// Returns a ncclUniqueId, as bytes.
std::string new_nccl_id();
/// Meets the other ranks by NCCL; everything runs on the device's stream. graph_steps: see
/// CudaOptions.
std::unique_ptr<DeviceLinks> link_by_nccl(std::shared_ptr<const Device> device,
                                          std::int64_t graph_steps,
                                          const DeviceLinkOptions& options);

}  // namespace linnet::cuda
