// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer_update/optimizer_update_cpu.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/cpu/kernel.h"
#include "ops/optimizer_update/update_rule.h"

namespace linnet::cpu {
namespace {

/// Calls `run(r, begin, end)` for each range r that holds some of `items`, which count the elements
/// of all ranges in order.
template <class F>
void for_ranges(const std::vector<UpdateRange>& ranges, Range items, F run) {
  std::int64_t before = 0;  // items of earlier ranges
  for (std::size_t r = 0; r < ranges.size() && before < items.end; ++r) {
    const UpdateRange& range = ranges[r];
    const std::int64_t begin = range.begin + std::max<std::int64_t>(items.begin - before, 0);
    const std::int64_t end = std::min(range.end, range.begin + (items.end - before));
    if (begin < end) run(r, begin, end);
    before += range.size();
  }
}

std::int64_t size_of(const std::vector<UpdateRange>& ranges) {
  std::int64_t size = 0;
  for (const UpdateRange& range : ranges) size += range.size();
  return size;
}

std::optional<Kernel> prepare_update(const NodeView& node) {
  using In = OptimizerUpdateOp::In;
  const OptimizerAttrs& attrs = node.attrs<OptimizerUpdateOp>();
  const UpdateSettings settings = attrs.settings;
  const std::vector<UpdateRange> ranges = ranges_of(attrs, node.in(In::parameters).elements());
  const std::int64_t size = size_of(ranges);
  const auto count = static_cast<std::size_t>(moments(settings.rule));
  const bool guarded = attrs.guarded;
  const std::size_t scaled =
      static_cast<const OptimizerUpdateOp&>(node.op).scale_input(node.inputs.size());
  return one_stage(size, 2.8, [=](const Args& args, const Task& task, Range range) {
    if (guarded && args.in<double>(args.inputs.size() - 1)[0] != 0) return;
    const double norm =
        settings.clip_norm > 0 ? args.in(OptimizerUpdateOp::norm_input(settings.rule))[0] : 0;
    const GradientScale scale = scaled > 0 ? gradient_scale(args.in(scaled)) : GradientScale{};
    const UpdateArrays arrays{.parameters = args.in_out(In::parameters),
                              .gradients = args.in(In::gradients),
                              .first = count > 0 ? args.in_out(In::first_moment) : nullptr,
                              .second = count > 1 ? args.in_out(In::second_moment) : nullptr};
    for_ranges(ranges, range, [&](std::size_t r, std::int64_t begin, std::int64_t end) {
      const UpdateFactors factors = update_factors(settings, ranges[r], *task.step, norm, scale);
      update_elements(settings.rule, factors, arrays, begin, end);
    });
  });
}

std::optional<Kernel> prepare_norm(const NodeView& node) {
  using In = GlobalNormOp::In;
  using Out = GlobalNormOp::Out;
  const std::vector<UpdateRange> ranges =
      ranges_of(node.attrs<GlobalNormOp>(), node.in(In::x).elements());
  const std::int64_t size = size_of(ranges);
  const int tasks = tasks_for(size, 1);
  Kernel kernel;
  kernel.workspace_bytes = sizeof(double) * static_cast<std::size_t>(tasks);
  kernel.stages.push_back(
      parallel(tasks, size, [=](const Args& args, const Task& task, Range range) {
        double sum = 0;
        for_ranges(ranges, range, [&](std::size_t, std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            const double x = args.in(In::x)[i];
            sum += x * x;
          }
        });
        args.work<double>()[task.index] = sum;
      }));
  kernel.stages.push_back(parallel(1, [=](const Args& args) {
    double sum = 0;
    for (int t = 0; t < tasks; ++t) sum += args.work<double>()[t];
    args.out(Out::norm)[0] = static_cast<float>(std::sqrt(sum));
  }));
  return kernel;
}

}  // namespace

void register_optimizer_update(Registry& registry) {
  registry.add(OptimizerUpdateOp::kName, prepare_update);
  registry.add(GlobalNormOp::kName, prepare_norm);
}

}  // namespace linnet::cpu
