// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "plan/plan.h"

namespace linnet {

/// Returns the contents of a plan's Storage::constant. Throws Error for a type that has no
/// constants.
std::vector<std::byte> constant_bytes(const Plan& plan);

}  // namespace linnet
