// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "commands/commands.h"

namespace linnet::command {

/// Exit status where another rank of the job ended, stopped or was cut off.
inline constexpr int kLostRank = 4;

}  // namespace linnet::command
