// SPDX-License-Identifier: Apache-2.0
#include "ops/gather/gather.h"

#include <limits>

#include "ops/slice/rows_cpu.h"

namespace linnet::cpu {
namespace {

constexpr std::int64_t kLine = 16;  // floats of a cache line: the narrowest part of a row

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const std::int64_t rows = node.in(0)[0];
  const std::int64_t size = node.in(0).sample().elements();
  const double cost = kMoveCost + 5.0 / static_cast<double>(std::max<std::int64_t>(size, 1));
  return for_rows(node.in(1).elements(), size, cost,
                  [=](const Args& args, std::int64_t i, std::int64_t begin, std::int64_t end) {
                    const std::int32_t row = args.in<std::int32_t>(1)[i];
                    float* to = args.out(0) + i * size;
                    if (row >= 0 && row < rows) {
                      copy_floats(args.in(0) + row * size + begin, to + begin, end - begin);
                    } else {
                      std::fill(to + begin, to + end, std::numeric_limits<float>::quiet_NaN());
                    }
                  });
}

/// A task owns a range of the table's rows and of their columns, and looks at all indices: each row
/// is added up in the order of the indices, whatever the tasks.
std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const std::int64_t rows = node.out(0)[0];
  const std::int64_t size = node.out(0).sample().elements();
  const std::int64_t count = node.in(1).elements();
  // Half as much for a row that is zeroed alone. More tasks would not pay: each reads every index.
  const int wanted =
      std::min(tasks_for(2 * count + rows, 0.5 * kMoveCost * static_cast<double>(size)), 16);
  const int row_parts = static_cast<int>(std::clamp<std::int64_t>(rows, 1, wanted));
  const int column_parts =
      static_cast<int>(std::clamp<std::int64_t>(size / kLine, 1, std::max(1, wanted / row_parts)));
  Kernel kernel;
  kernel.stages.push_back(
      {row_parts * column_parts, [=](const Args& args, const Task& task) {
         const Range own = split(rows, row_parts, task.index / column_parts);
         const Range columns = split(size, column_parts, task.index % column_parts);
         float* table = args.out(0);
         for (std::int64_t row = own.begin; row < own.end; ++row) {
           std::fill(table + row * size + columns.begin, table + row * size + columns.end, 0.0F);
         }
         const std::int32_t* indices = args.in<std::int32_t>(1);
         for (std::int64_t i = 0; i < count; ++i) {
           const std::int32_t row = indices[i];
           if (row < own.begin || row >= own.end) continue;
           const float* dy = args.in(0) + i * size;
           float* sums = table + row * size;
           for (std::int64_t c = columns.begin; c < columns.end; ++c) sums[c] += dy[c];
         }
       }});
  return kernel;
}

}  // namespace

void register_gather(Registry& registry) {
  registry.add(GatherOp::kName, prepare_forward);
  registry.add(GatherGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
