// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/dropout/dropout.h"

namespace linnet::cpu {

/// Computes y[i] = drop(x[i], the mask's factor of element first + i), i < count. x may be y.
void drop_elements(const DropoutMask& mask, std::uint64_t first, std::int64_t count, const float* x,
                   float* y);

}  // namespace linnet::cpu
