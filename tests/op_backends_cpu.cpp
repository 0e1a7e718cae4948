// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/cpu_backend.h"
#include "op_backends.h"
#include "ops/cpu_kernels.h"

namespace linnet::testing {

TestedDevice tested_cpu() {
  static std::vector<std::unique_ptr<cpu::CpuBackend>> backends;
  if (backends.empty()) {
    for (int threads : {1, 2, 4}) {
      cpu::Registry registry;
      cpu::register_cpu_kernels(registry);
      backends.push_back(std::make_unique<cpu::CpuBackend>(std::move(registry), threads));
    }
  }
  TestedDevice device{"the CPU", {}};
  for (const auto& backend : backends) device.backends.push_back(backend.get());
  return device;
}

}  // namespace linnet::testing
