// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/linnet.h>

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/sim/sim.h"
#include "model/model_state.h"
#include "ops/cuda_kernels.h"

namespace linnet::testing {

/// A model on the simulated device, with Linnet's own kernels.
inline Model simulated_model(Network network, const CudaOptions& options = {},
                             std::uint64_t seed = 0) {
  cuda::Registry registry;
  cuda::register_cuda_kernels(registry);
  auto device = std::make_shared<cuda::Device>(cuda::find_device(""));
  return Model(make_state(std::move(network),
                          std::make_unique<cuda::CudaBackend>(std::move(registry),
                                                              std::move(device), options),
                          seed));
}

/// The simulated machine as it was, however a test ends.
class MachineGuard {
 public:
  MachineGuard() {
    cuda::sim::reset_device();
    cuda::sim::clear();
  }
  ~MachineGuard() { cuda::sim::reset_device(); }
  MachineGuard(const MachineGuard&) = delete;
  MachineGuard& operator=(const MachineGuard&) = delete;
};

}  // namespace linnet::testing
