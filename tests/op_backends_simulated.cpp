// SPDX-License-Identifier: Apache-2.0
// op_test: the CPU, and CUDA kernels on the simulated runtime.
#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/sim/sim.h"
#include "op_backends.h"
#include "ops/cuda_kernels.h"

namespace linnet::testing {

const std::vector<TestedDevice>& tested_devices() {
  static const std::vector<TestedDevice> devices = [] {
    cuda::Registry registry;
    cuda::register_cuda_kernels(registry);
    static cuda::CudaBackend simulated(std::move(registry),
                                       std::make_shared<cuda::Device>(cuda::find_device("")), {});
    return std::vector<TestedDevice>{tested_cpu(),
                                     {"simulated CUDA", {&simulated}, [](std::uint64_t seed) {
                                        cuda::sim::device().shuffle_seed = seed;
                                      }}};
  }();
  return devices;
}

}  // namespace linnet::testing
