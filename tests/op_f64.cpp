// SPDX-License-Identifier: Apache-2.0
// The CPU in double precision, for the op harness.
#include "backend/cpu/cpu_backend.h"
#include "op_backends.h"
#include "ops_f64/f64_kernels.h"

namespace linnet::testing {

std::vector<TestedDevice> tested_in_f64() {
  static const std::vector<std::unique_ptr<cpu::CpuBackend>> backends = [] {
    std::vector<std::unique_ptr<cpu::CpuBackend>> made;
    for (const int threads : {1, 2, 4}) {
      cpu::Registry registry;
      cpu::register_f64_kernels(registry);
      made.push_back(std::make_unique<cpu::CpuBackend>(std::move(registry),
                                                       std::make_shared<ThreadTeam>(threads),
                                                       cpu::Products::fp32, CpuOptions{},
                                                       cpu::Numbers::f64));
    }
    return made;
  }();
  TestedDevice device{"the CPU in fp64", {}};
  for (const auto& backend : backends) device.backends.push_back(backend.get());
  return {device};
}

}  // namespace linnet::testing
