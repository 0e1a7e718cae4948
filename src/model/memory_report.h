// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "plan/plan.h"

namespace linnet {

/// Returns e.g. "6.1 MiB".
std::string mebibytes(std::size_t bytes);

/// Returns a sentence for a program that does not fit into `free` bytes: what it needs, its largest
/// values, and the largest batch that would fit. `graph_of` gives the same program's graph at
/// another batch.
std::string does_not_fit(const Plan& plan, std::size_t needed, std::size_t free, std::int64_t batch,
                         const std::function<Graph(std::int64_t)>& graph_of);

}  // namespace linnet
