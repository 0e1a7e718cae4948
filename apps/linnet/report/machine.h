// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace linnet::command {

/// The computer that the command runs on.
struct Machine {
  std::string processor;           ///< as it calls itself
  std::vector<std::string> flags;  ///< instruction sets that kernels care about
  int cores = 0;                   ///< processors that this process may use
  std::size_t memory_bytes = 0;
  std::size_t available_bytes = 0;
};

Machine this_machine();

/// Returns the most memory that this process has held (VmHWM); 0 where the system does not tell.
std::size_t peak_bytes();

/// Returns the memory that this process holds now (VmRSS); 0 where the system does not tell.
std::size_t resident_bytes();

}  // namespace linnet::command
