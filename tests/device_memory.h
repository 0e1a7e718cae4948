// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "backend/cuda/device.h"

namespace linnet::testing {

/// Operands of a CUDA kernel that a test calls itself, on the simulated device or on a GPU: a
/// kernel that is given the host's memory there ends every later test, too. Freed with the object.
class DeviceMemory {
 public:
  /// Returns `bytes` that begin `at` bytes after a multiple of 256.
  std::byte* place(std::size_t bytes, std::size_t at = 0) {
    blocks_.push_back(cuda::try_allocate(bytes + at));
    return static_cast<std::byte*>(blocks_.back().get()) + at;
  }
  /// The same, filled from the host.
  std::byte* place_copy(const void* from, std::size_t bytes, std::size_t at = 0) {
    std::byte* to = place(bytes, at);
    copy(to, from, bytes);
    return to;
  }
  /// Copies in any direction, in the order of the default stream, and waits.
  static void copy(void* to, const void* from, std::size_t bytes) {
    cuda::check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copying a test's operand");
  }

 private:
  std::vector<cuda::ScratchMemory> blocks_;
};

}  // namespace linnet::testing
