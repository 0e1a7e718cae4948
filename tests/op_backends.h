// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/backend.h"

namespace linnet::testing {

/// A kind of device that the op harness runs every case on. Its backends differ only in what may
/// not change a bit of any result (the number of threads).
struct TestedDevice {
  std::string name;
  std::vector<Backend*> backends;  ///< live as long as the program
  /// If set: makes the device run threads in another order, drawn from the seed; 0: as usual.
  void (*reorder)(std::uint64_t seed) = nullptr;
};

/// Returns which they are is the test program's choice: it links one definition of this.
const std::vector<TestedDevice>& tested_devices();

/// The CPU with 1, 2 and 4 threads.
TestedDevice tested_cpu();

/// The same at bf16: by rounded operands, and natively; where the processor has no bfloat16
/// arithmetic, that falls back on rounded operands.
std::vector<TestedDevice> tested_cpus_in_bf16();

/// Returns the CPU in double precision with 1, 2 and 4 threads; nothing in a program without it.
std::vector<TestedDevice> tested_in_f64();

/// Returns the devices at bf16 or fp16 that store activations in this type.
std::vector<TestedDevice> tested_in(DType half);

}  // namespace linnet::testing
