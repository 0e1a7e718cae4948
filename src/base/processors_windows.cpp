// SPDX-License-Identifier: Apache-2.0
#include <windows.h>

#include <algorithm>
#include <bit>
#include <thread>

#include "base/thread_team.h"

namespace linnet {

int available_processors() {
  DWORD_PTR ours = 0;
  DWORD_PTR all = 0;
  int count = static_cast<int>(std::thread::hardware_concurrency());
  if (::GetProcessAffinityMask(::GetCurrentProcess(), &ours, &all) != 0) {
    count = std::popcount(ours);
  }
  return std::max(count, 1);
}

}  // namespace linnet
