// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/inspect.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/workloads.h"

namespace linnet::command {

/// Returns by how much this process grows at most while it makes a batch of zeros and runs one step
/// on it as `plan` says, in bytes of resident memory. For a process that has done nothing else.
std::size_t measure_memory(const Job& job, bool training, std::int64_t batch,
                           const MemoryPlan& plan);

/// Returns what this program prints in a fresh process with such arguments. Throws Error if it
/// cannot be started or fails.
std::string run_again(const std::vector<std::string>& arguments);

}  // namespace linnet::command
