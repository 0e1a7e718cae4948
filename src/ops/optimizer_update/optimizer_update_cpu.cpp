// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer_update/optimizer_update_cpu.h"

#include <cmath>

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare_update(const NodeView& node) {
  const OptimizerAttrs attrs = node.attrs<OptimizerUpdateOp>();
  const std::int64_t length = node.in(0).elements();
  const auto count = static_cast<std::size_t>(moments(attrs));
  const int tasks = tasks_for(length, 0.7);
  Kernel kernel;
  kernel.stages.push_back(
      {tasks, [=](const Args& args, const Task& task) {
         const double norm = attrs.clip_norm > 0 ? args.in(2 + count)[0] : 0;
         const UpdateFactors factors = update_factors(attrs, *task.step, norm);
         const UpdateArrays arrays{.parameters = args.in_out(0),
                                   .gradients = args.in(1),
                                   .first = count > 0 ? args.in_out(2) : nullptr,
                                   .second = count > 1 ? args.in_out(3) : nullptr};
         const Range range = split(length, tasks, task.index);
         update_range(attrs, factors, arrays, range.begin, range.end);
       }});
  return kernel;
}

std::optional<Kernel> prepare_norm(const NodeView& node) {
  const std::int64_t length = node.in(0).elements();
  const int tasks = tasks_for(length, 1);
  Kernel kernel;
  kernel.workspace_bytes = sizeof(double) * static_cast<std::size_t>(tasks);
  kernel.stages.push_back({tasks, [=](const Args& args, const Task& task) {
                             const Range range = split(length, tasks, task.index);
                             double sum = 0;
                             for (std::int64_t i = range.begin; i < range.end; ++i) {
                               const double x = args.in(0)[i];
                               sum += x * x;
                             }
                             args.work<double>()[task.index] = sum;
                           }});
  kernel.stages.push_back({1, [=](const Args& args, const Task&) {
                             double sum = 0;
                             for (int t = 0; t < tasks; ++t) sum += args.work<double>()[t];
                             args.out(0)[0] = static_cast<float>(std::sqrt(sum));
                           }});
  return kernel;
}

}  // namespace

void register_optimizer_update(Registry& registry) {
  registry.add(OptimizerUpdateOp::kName, prepare_update);
  registry.add(GlobalNormOp::kName, prepare_norm);
}

}  // namespace linnet::cpu
