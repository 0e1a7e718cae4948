// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cpu/partial_sums.h"
#include "backend/cpu/stored.h"

namespace linnet::cpu {

/// Adds `rows` rows of `columns` floats, `pitch` apart, to `sums`.
void add_rows(const float* x, std::int64_t pitch, std::int64_t rows, std::int64_t columns,
              float* sums);
/// Adds rows that follow each other. Short ones are joined, so their order is another one.
void add_rows(const float* x, std::int64_t rows, std::int64_t columns, float* sums);

/// Returns two stages that sum the rows of a (rows, columns) matrix in a fixed order, whatever the
/// threads: `add(args, range, sums)`, or add(args, task, range, sums), adds the rows of one range
/// into `sums` (zeroed before); then the partial sums are added in the order of their ranges into
/// output `output`. Uses the node's workspace from byte 0 on.
template <class AddRows>
Kernel row_sum(std::int64_t rows, std::int64_t columns, double cost_of_row, std::size_t output,
               AddRows add) {
  const int tasks = partial_tasks(rows, cost_of_row, columns);
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(tasks * columns);
  kernel.stages.push_back(
      parallel(tasks, rows, [=](const Args& args, const Task& task, Range range) {
        float* sums = args.work() + task.index * columns;
        std::fill_n(sums, columns, 0.0F);
        if constexpr (std::is_invocable_v<AddRows, const Args&, Range, float*>) {
          add(args, range, sums);
        } else {
          add(args, task, range, sums);
        }
      }));
  kernel.stages.push_back(add_partials_stage(tasks, columns, output));
  return kernel;
}

/// row_sum() of the first input itself into the first output.
inline Kernel plain_row_sum(const NodeView& node, std::int64_t rows, std::int64_t columns) {
  const Stored stored(node.inputs[kFirst]);
  Kernel kernel =
      row_sum(rows, columns, 0.3 * static_cast<double>(columns), kFirst,
              [=](const Args& args, const Task& task, Range range, float* sums) {
                const std::int64_t at_once = stored.bf16() ? stored_rows(columns) : range.size();
                for (std::int64_t r = range.begin; r < range.end; r += at_once) {
                  const std::int64_t count = std::min(at_once, range.end - r);
                  add_rows(stored.read(args.inputs[kFirst], r * columns, count * columns,
                                       reinterpret_cast<float*>(task.scratch)),
                           count, columns, sums);
                }
              });
  if (stored.bf16()) {
    kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(stored_rows(columns) * columns);
  }
  return kernel;
}

}  // namespace linnet::cpu
