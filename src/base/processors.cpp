// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

#include "base/thread_team.h"

namespace linnet {

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = static_cast<int>(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof(set), &set) == 0) count = CPU_COUNT(&set);
  std::ifstream quota_file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (quota_file >> quota >> period && quota != "max" && period > 0) {
    count = std::min(count, static_cast<int>(std::ceil(std::stod(quota) / period)));
  }
  return std::max(count, 1);
}

}  // namespace linnet
