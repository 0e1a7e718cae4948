// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "runtime/task_times.h"

namespace linnet {

/// Returns how long `threads` threads take for a stage of these tasks (seconds): each goes, in
/// their order, to the thread that is free first. `measured_at`: threads at which handing out took
/// so long. One thread hands out nothing.
double stage_seconds(std::span<const double> tasks, int threads, const HandOut& hand_out,
                     int measured_at);

}  // namespace linnet
