// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cpu/kernel.h"

namespace linnet::cpu {

/// Two stages that sum the rows of a (rows, columns) matrix in a fixed order, whatever the threads:
/// `add(args, range, sums)` adds the rows of one range into `sums` (zeroed before); then the
/// partial sums are added in the order of their ranges into output `output`. Uses the node's
/// workspace from byte 0 on.
template <class AddRows>
Kernel row_sum(std::int64_t rows, std::int64_t columns, double cost_of_row, std::size_t output,
               AddRows add) {
  const int tasks = std::min(tasks_for(rows, cost_of_row), 16);
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(tasks * columns);
  kernel.stages.push_back({tasks, [=](const Args& args, const Task& task) {
                             float* sums = args.work() + task.index * columns;
                             std::fill_n(sums, columns, 0.0F);
                             add(args, split(rows, tasks, task.index), sums);
                           }});
  const int adders = tasks_for(columns, 0.3 * tasks);
  kernel.stages.push_back({adders, [=](const Args& args, const Task& task) {
                             const Range range = split(columns, adders, task.index);
                             float* out = args.out(output);
                             for (std::int64_t c = range.begin; c < range.end; ++c) {
                               float sum = args.work()[c];
                               for (int t = 1; t < tasks; ++t) sum += args.work()[t * columns + c];
                               out[c] = sum;
                             }
                           }});
  return kernel;
}

}  // namespace linnet::cpu
