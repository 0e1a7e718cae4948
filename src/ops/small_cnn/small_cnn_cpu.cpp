// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/kernel.h"

namespace linnet::cpu {

/// The CPU has no kernel: its launches cost next to nothing, and its parts have faster loops.
void register_small_cnn(Registry& /*registry*/) {}

}  // namespace linnet::cpu
