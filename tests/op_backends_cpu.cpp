// SPDX-License-Identifier: Apache-2.0
#include <hwy/targets.h>

#include <cstdlib>
#include <map>

#include "backend/cpu/cpu_backend.h"
#include "op_backends.h"
#include "ops/cpu_kernels.h"

namespace linnet::testing {
namespace {

/// Kernels run as on an older processor, if the test says so.
const bool kOlder = [] {
  const bool older = HWY_ARCH_X86 && std::getenv("LINNET_TEST_SSSE3") != nullptr;
  if (older) hwy::SetSupportedTargetsForTest(HWY_SSSE3);
  return older;
}();

TestedDevice cpu_that_multiplies(cpu::Products products, const std::string& name) {
  static std::map<cpu::Products, std::vector<std::unique_ptr<cpu::CpuBackend>>> all;
  std::vector<std::unique_ptr<cpu::CpuBackend>>& backends = all[products];
  if (backends.empty()) {
    for (int threads : {1, 2, 4}) {
      cpu::Registry registry;
      cpu::register_cpu_kernels(registry);
      backends.push_back(std::make_unique<cpu::CpuBackend>(std::move(registry),
                                                           std::make_shared<ThreadTeam>(threads),
                                                           products));
    }
  }
  TestedDevice device{name, {}};
  for (const auto& backend : backends) device.backends.push_back(backend.get());
  return device;
}

}  // namespace

TestedDevice tested_cpu() { return cpu_that_multiplies(cpu::Products::fp32, "the CPU"); }

std::vector<TestedDevice> tested_cpus_in_bf16() {
  // What is stored in bf16 is compiled for AVX-512, which processors that multiply so have.
  if (kOlder || (hwy::SupportedTargets() & HWY_AVX3) == 0)
    return {cpu_that_multiplies(cpu::Products::bf16_rounded, "the CPU, operands rounded")};
  return {cpu_that_multiplies(cpu::Products::bf16_rounded, "the CPU, operands rounded"),
          cpu_that_multiplies(cpu::Products::bf16_native, "the CPU, native bf16 if it has some")};
}

}  // namespace linnet::testing
