// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <gtest/gtest.h>
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

/// Trains, and compares History::planned_bytes with what the device has allocated meanwhile.
inline void expect_planned_is_allocated(Model& model, const Dataset& data,
                                        const TrainingOptions& options) {
  struct Watch : Callback {
    std::size_t bytes = 0;
    void on_progress(const Progress&) override { bytes = cuda::sim::allocated_bytes(); }
  } watch;
  const std::size_t before = cuda::sim::allocated_bytes();
  const std::size_t own = model.state().parameters->bytes() + model.state().statistics->bytes();
  const History history = train(model, data, options, nullptr, &watch);
  const auto measured = static_cast<double>(watch.bytes - before + own);  // rounded up by CUDA
  EXPECT_NEAR(static_cast<double>(history.planned_bytes), measured, 0.02 * measured);
}

}  // namespace linnet::testing
