// SPDX-License-Identifier: Apache-2.0
// What a build for browsers (cmake/LinnetCross.cmake) has instead of processors.cpp: one thread.
#include "base/thread_team.h"

namespace linnet {

int available_processors() { return 1; }

}  // namespace linnet
