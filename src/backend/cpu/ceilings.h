// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/thread_team.h"
#include "runtime/backend.h"

namespace linnet::cpu {

/// Returns what the team's processors reach together, the best of a few tries now: f32
/// multiply-adds on registers by the widest vectors, and a[i] = b[i] + s c[i] on arrays beyond the
/// caches (bytes that it names: two reads and a write). About a tenth of a second. Throws
/// OutOfMemory.
Ceilings measure_ceilings(ThreadTeam& team);

}  // namespace linnet::cpu
