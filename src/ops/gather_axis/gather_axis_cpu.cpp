// SPDX-License-Identifier: Apache-2.0
#include "ops/gather_axis/gather_axis.h"

#include <limits>

#include "ops/slice/rows_cpu.h"

namespace linnet::cpu {
namespace {

constexpr std::int64_t kLine = 16;  // floats of a cache line: the narrowest part of a row
constexpr float kOutside = std::numeric_limits<float>::quiet_NaN();

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const GatherAxisLayout s(node.attrs<GatherAxisOp>(), node.in(GatherAxisOp::In::x),
                           node.in(GatherAxisOp::In::ids));
  const double cost = 1 + kMoveCost * static_cast<double>(s.along ? 4 * s.inner : s.inner);
  return one_stage(s.rows * s.ids, cost, [=](const Args& args, Range range) {
    const std::int32_t* ids = args.in<std::int32_t>(GatherAxisOp::In::ids);
    for (std::int64_t line = range.begin; line < range.end; ++line) {
      const std::int64_t row = line / s.ids;
      const std::int64_t j = line - row * s.ids;
      const float* x = args.in(GatherAxisOp::In::x) + row * s.dim * s.inner;
      float* y = args.out(GatherAxisOp::Out::y) + line * s.inner;
      if (s.along) {
        for (std::int64_t i = 0; i < s.inner; ++i) {
          const std::int32_t id = ids[s.id(row, j, i)];
          y[i] = id >= 0 && id < s.dim ? x[id * s.inner + i] : kOutside;
        }
        continue;
      }
      const std::int32_t id = ids[s.id(row, j, 0)];
      if (id >= 0 && id < s.dim) {
        copy_floats(x + id * s.inner, y, s.inner);
      } else {
        std::fill_n(y, s.inner, kOutside);
      }
    }
  });
}

/// A task owns rows of x, or some of their columns: each element is added up in the order
/// of the ids, whatever the tasks.
std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const GatherAxisLayout s(node.attrs<GatherAxisGradOp>().gather,
                           node.out(GatherAxisGradOp::Out::dx), node.in(GatherAxisGradOp::In::ids));
  const double cost = static_cast<double>((2 * s.ids + s.dim) * s.inner) * 0.5;
  const int wanted = tasks_for(s.rows * std::max<std::int64_t>(s.inner, 1),
                               cost / static_cast<double>(std::max<std::int64_t>(s.inner, 1)));
  const int row_parts = static_cast<int>(std::clamp<std::int64_t>(s.rows, 1, wanted));
  const int column_parts = static_cast<int>(
      std::clamp<std::int64_t>(s.inner / kLine, 1, std::max(1, wanted / row_parts)));
  Kernel kernel;
  kernel.stages.push_back(
      {row_parts * column_parts, [=](const Args& args, const Task& task) {
         const Range own = split(s.rows, row_parts, task.index / column_parts);
         const Range columns = split(s.inner, column_parts, task.index % column_parts);
         const std::int32_t* ids = args.in<std::int32_t>(GatherAxisGradOp::In::ids);
         for (std::int64_t row = own.begin; row < own.end; ++row) {
           float* dx = args.out(GatherAxisGradOp::Out::dx) + row * s.dim * s.inner;
           for (std::int64_t k = 0; k < s.dim; ++k) {
             std::fill(dx + k * s.inner + columns.begin, dx + k * s.inner + columns.end, 0.0F);
           }
           for (std::int64_t j = 0; j < s.ids; ++j) {
             const float* dy = args.in(GatherAxisGradOp::In::dy) + (row * s.ids + j) * s.inner;
             for (std::int64_t i = columns.begin; i < columns.end; ++i) {
               const std::int32_t id = ids[s.id(row, j, i)];
               if (id >= 0 && id < s.dim) dx[id * s.inner + i] += dy[i];
             }
           }
         }
       }});
  return kernel;
}

}  // namespace

void register_gather_axis(Registry& registry) {
  registry.add(GatherAxisOp::kName, prepare_forward);
  registry.add(GatherAxisGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
