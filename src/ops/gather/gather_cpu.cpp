// SPDX-License-Identifier: Apache-2.0
#include "ops/gather/gather.h"

#include <limits>

#include "backend/cpu/row_sum.h"
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

/// Indices that are looked through before their rows are added.
constexpr std::int64_t kIndices = 1024;

/// Columns of some rows of a table, to which rows of dy are added.
struct TablePart {
  const float* dy;
  float* table;
  std::int64_t size;  ///< of a row
  Range rows;
  Range columns;

  void clear() const {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      std::fill(table + row * size + columns.begin, table + row * size + columns.end, 0.0F);
    }
  }

  /// Adds rows [begin, end) of dy where their indices are among the part's. `hits` has kIndices.
  void add(const std::int32_t* indices, std::int64_t begin, std::int64_t end,
           std::int32_t* hits) const {
    std::int64_t count = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      hits[count] = static_cast<std::int32_t>(i - begin);
      count += static_cast<std::int64_t>(indices[i] >= rows.begin && indices[i] < rows.end);
    }
    constexpr std::int64_t kAhead = 4;
    for (std::int64_t k = 0; k < count; ++k) {
      if (k + kAhead < count) fetch(indices, begin + hits[k + kAhead]);
      const std::int64_t i = begin + hits[k];
      add_rows(dy + i * size + columns.begin, 1, columns.size(),
               table + indices[i] * size + columns.begin);
    }
  }

  void fetch(const std::int32_t* indices, std::int64_t i) const {
    for (std::int64_t c = columns.begin; c < columns.end; c += kLine) {
      __builtin_prefetch(dy + i * size + c);
      __builtin_prefetch(table + indices[i] * size + c);
    }
  }
};

/// A task owns a range of the table's rows and of their columns, and looks at all indices:
/// each row is added up in the order of the indices, whatever the tasks.
std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = GatherGradOp::In;
  using Out = GatherGradOp::Out;
  const std::int64_t rows = node.out(Out::dtable)[0];
  const std::int64_t size = node.out(Out::dtable).sample().elements();
  const std::int64_t count = node.in(In::indices).elements();
  // Half as much for a row that is zeroed alone. Each task reads every index: more than 16 only
  // where that is a third of its moves or less.
  const double move = 0.5 * kMoveCost * static_cast<double>(size);
  const int wanted = std::min(tasks_for(2 * count + rows, move),
                              std::max(16, static_cast<int>(std::min(2 * move, 1024.0))));
  const int row_parts = static_cast<int>(std::clamp<std::int64_t>(rows, 1, wanted));
  const int column_parts =
      static_cast<int>(std::clamp<std::int64_t>(size / kLine, 1, std::max(1, wanted / row_parts)));
  Kernel kernel;
  kernel.scratch_bytes = sizeof(std::int32_t) * kIndices;
  kernel.stages.push_back(
      parallel(row_parts * column_parts, [=](const Args& args, const Task& task) {
        const TablePart part{.dy = args.in(In::dy),
                             .table = args.out(Out::dtable),
                             .size = size,
                             .rows = split(rows, row_parts, task.index / column_parts),
                             .columns = split(size, column_parts, task.index % column_parts)};
        part.clear();
        for (std::int64_t i = 0; i < count; i += kIndices) {
          part.add(args.in<std::int32_t>(In::indices), i, std::min(i + kIndices, count),
                   reinterpret_cast<std::int32_t*>(task.scratch));
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
