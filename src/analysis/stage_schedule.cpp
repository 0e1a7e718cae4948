// SPDX-License-Identifier: Apache-2.0
#include "analysis/stage_schedule.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <vector>

namespace linnet {

double stage_seconds(std::span<const double> tasks, int threads, const HandOut& hand_out,
                     int measured_at) {
  if (threads == 1) return std::accumulate(tasks.begin(), tasks.end(), 0.0);
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  for (int t = 0; t < threads; ++t) free.push(0);
  double end = 0;
  for (const double task : tasks) {
    const double done = free.top() + hand_out.task + task;
    free.pop();
    free.push(done);
    end = std::max(end, done);
  }
  // Every end of a task is counted in one place.
  end = std::max(end, hand_out.task * static_cast<double>(tasks.size()));
  return end + hand_out.stage * std::log2(threads) / std::log2(std::max(measured_at, 2));
}

}  // namespace linnet
