// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet::cpu {

/// Returns the number of floats of a vector of this processor, of the sets that kernels are
/// compiled for.
std::int64_t float_lanes();

}  // namespace linnet::cpu
