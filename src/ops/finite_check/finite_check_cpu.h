// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet::cpu {

/// Returns whether none of `count` numbers is infinite or NaN.
bool all_finite(const float* x, std::int64_t count);

}  // namespace linnet::cpu
