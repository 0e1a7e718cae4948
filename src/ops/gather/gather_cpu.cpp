// SPDX-License-Identifier: Apache-2.0
#include "ops/gather/gather.h"

#include <limits>

#include "ops/slice/rows_cpu.h"

namespace linnet::cpu {
namespace {

constexpr std::int64_t kLine = 16;  // floats of a cache line: the narrowest part of a row

std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = GatherOp::In;
  using Out = GatherOp::Out;
  const std::int64_t rows = node.in(In::table)[0];
  const std::int64_t size = node.in(In::table).sample().elements();
  const double cost = kMoveCost + 5.0 / static_cast<double>(std::max<std::int64_t>(size, 1));
  return for_rows(node.in(In::indices).elements(), size, cost,
                  [=](const Args& args, std::int64_t i, std::int64_t begin, std::int64_t end) {
                    const std::int32_t row = args.in<std::int32_t>(In::indices)[i];
                    float* to = args.out(Out::y) + i * size;
                    if (row >= 0 && row < rows) {
                      copy_floats(args.in(In::table) + row * size + begin, to + begin, end - begin);
                    } else {
                      std::fill(to + begin, to + end, std::numeric_limits<float>::quiet_NaN());
                    }
                  });
}

/// A task owns a range of the table's rows and of their columns, and looks at all indices:
/// each row is added up in the order of the indices, whatever the tasks.
std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = GatherGradOp::In;
  using Out = GatherGradOp::Out;
  const std::int64_t rows = node.out(Out::dtable)[0];
  const std::int64_t size = node.out(Out::dtable).sample().elements();
  const std::int64_t count = node.in(In::indices).elements();
  // Half as much for a row that is zeroed alone. Each task reads every index: more than 16 only
  // where that is a quarter of its moves or less.
  const double move = 0.5 * kMoveCost * static_cast<double>(size);
  const int wanted = std::min(tasks_for(2 * count + rows, move),
                              std::max(16, static_cast<int>(std::min(move / 2, 1024.0))));
  const int row_parts = static_cast<int>(std::clamp<std::int64_t>(rows, 1, wanted));
  const int column_parts =
      static_cast<int>(std::clamp<std::int64_t>(size / kLine, 1, std::max(1, wanted / row_parts)));
  Kernel kernel;
  kernel.stages.push_back(
      parallel(row_parts * column_parts, [=](const Args& args, const Task& task) {
        const Range own = split(rows, row_parts, task.index / column_parts);
        const Range columns = split(size, column_parts, task.index % column_parts);
        float* table = args.out(Out::dtable);
        for (std::int64_t row = own.begin; row < own.end; ++row) {
          std::fill(table + row * size + columns.begin, table + row * size + columns.end, 0.0F);
        }
        const std::int32_t* indices = args.in<std::int32_t>(In::indices);
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int32_t row = indices[i];
          if (row < own.begin || row >= own.end) continue;
          const float* dy = args.in(In::dy) + i * size;
          float* sums = table + row * size;
          for (std::int64_t c = columns.begin; c < columns.end; ++c) sums[c] += dy[c];
        }
      }));
  return kernel;
}

}  // namespace

void register_gather(Registry& registry) {
  registry.add(GatherOp::kName, prepare_forward);
  registry.add(GatherGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
