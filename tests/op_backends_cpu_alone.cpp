// SPDX-License-Identifier: Apache-2.0
// op_test of a cross build: the CPU alone.
#include "op_backends.h"

namespace linnet::testing {

const std::vector<TestedDevice>& tested_devices() {
  static const std::vector<TestedDevice> devices{tested_cpu()};
  return devices;
}

std::vector<TestedDevice> tested_in(DType half) {
  if (half == DType::f16) return {};
  return {tested_cpus_in_bf16().back()};
}

}  // namespace linnet::testing
