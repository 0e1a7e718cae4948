// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/gemm.h"
#include "backend/cpu/kernel.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/dense/dense.h"
#include "ops/dense/dense_bf16_cpu.h"
#include "ops/dense/thin_products_cpu.h"

namespace linnet::cpu {
namespace {

/// Nanoseconds of one core for a row of a product, at a cautious 40 GFLOP/s.
double row_cost(std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(n) * static_cast<double>(k) / 40.0;
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const DenseAttrs attrs = node.attrs<DenseOp>();
  const std::int64_t n = node.in(0)[0];
  const std::int64_t features = node.in(0)[1];
  const std::int64_t units = node.in(1)[0];
  Kernel kernel;
  if (units <= kThinUnits) {
    const int tasks = tasks_for(n, row_cost(units, features));
    kernel.stages.push_back({tasks, [=](const Args& args, const Task& task) {
                               const Range rows = split(n, tasks, task.index);
                               float* y = args.out(0) + rows.begin * units;
                               thin_forward({rows.size(), features, units},
                                            args.in(0) + rows.begin * features, args.in(1), y);
                               add_bias_and_activate(y, rows.size(), units,
                                                     attrs.bias ? args.in(2) : nullptr,
                                                     attrs.activation);
                             }});
    return kernel;
  }
  const ProductTasks tasks({n, units, features});
  kernel.scratch_bytes = tasks.scratch_bytes();
  kernel.stages.push_back(
      {tasks.count(), [=](const Args& args, const Task& task) {
         const auto [rows, columns] = tasks.block(task.index);
         float* y = args.out(0) + rows.begin * units + columns.begin;
         gemm({rows.size(), columns.size(), features},
              {args.in(0) + rows.begin * features, features},
              {args.in(1) + columns.begin * features, features, true}, y, units, task.scratch);
         add_bias_and_activate(y, rows.size(), columns.size(),
                               attrs.bias ? args.in(2) + columns.begin : nullptr, attrs.activation,
                               units);
       }});
  return kernel;
}

std::optional<Kernel> prepare_grad_input(const NodeView& node) {
  const std::int64_t n = node.in(0)[0];
  const std::int64_t units = node.in(0)[1];
  const std::int64_t features = node.in(1)[1];
  Kernel kernel;
  if (units <= kThinUnits) {
    const int tasks = tasks_for(n, row_cost(units, features));
    kernel.stages.push_back({tasks, [=](const Args& args, const Task& task) {
                               const Range rows = split(n, tasks, task.index);
                               thin_grad_input({rows.size(), features, units},
                                               args.in(0) + rows.begin * units, args.in(1),
                                               args.out(0) + rows.begin * features);
                             }});
    return kernel;
  }
  const ProductTasks tasks({n, features, units});
  kernel.scratch_bytes = tasks.scratch_bytes();
  kernel.stages.push_back(
      {tasks.count(), [=](const Args& args, const Task& task) {
         const auto [rows, columns] = tasks.block(task.index);
         gemm({rows.size(), columns.size(), units}, {args.in(0) + rows.begin * units, units},
              {args.in(1) + columns.begin, features},
              args.out(0) + rows.begin * features + columns.begin, features, task.scratch);
       }});
  return kernel;
}

/// Each task sums its block of dw over the whole batch, so nothing is left to add up.
std::optional<Kernel> prepare_grad_weight(const NodeView& node) {
  const std::int64_t n = node.in(0)[0];
  const std::int64_t units = node.in(0)[1];
  const std::int64_t features = node.in(1)[1];
  Kernel kernel;
  if (units <= kThinUnits) {
    const int tasks = tasks_for(features, row_cost(units, n));
    kernel.stages.push_back({tasks, [=](const Args& args, const Task& task) {
                               const Range columns = column_lines(features, tasks, task.index);
                               thin_grad_weight({n, features, units}, args.in(0), args.in(1),
                                                columns.begin, columns.end, args.out(0));
                             }});
    return kernel;
  }
  const ProductTasks tasks({units, features, n}, true);
  kernel.scratch_bytes = tasks.scratch_bytes();
  kernel.stages.push_back(
      {tasks.count(), [=](const Args& args, const Task& task) {
         const auto [rows, columns] = tasks.block(task.index);
         gemm({rows.size(), columns.size(), n}, {args.in(0) + rows.begin, units, true},
              {args.in(1) + columns.begin, features},
              args.out(0) + rows.begin * features + columns.begin, features, task.scratch);
       }});
  return kernel;
}

}  // namespace

void register_dense(Registry& registry) {
  registry.add_product(DenseOp::kName, prepare_forward, prepare_dense_bf16);
  registry.add_product(DenseGradInputOp::kName, prepare_grad_input, prepare_dense_grad_input_bf16);
  registry.add_product(DenseGradWeightOp::kName, prepare_grad_weight,
                       prepare_dense_grad_weight_bf16);
}

}  // namespace linnet::cpu
