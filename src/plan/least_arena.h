// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "plan/plan.h"

namespace linnet {

/// Returns the largest sum of values and workspaces in the arena that live at the same time: in
/// this order of nodes no arena can be smaller.
std::size_t least_arena_bytes(const Plan& plan);

}  // namespace linnet
