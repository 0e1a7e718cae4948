// SPDX-License-Identifier: Apache-2.0
#include "ops/finite_check/finite_check_cpu.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/kernel.h"
#include "ops/finite_check/finite_check.h"

namespace linnet::cpu {
namespace {

/// Finds whether a number of each task's part is not finite, then of all.
std::optional<Kernel> prepare(const NodeView& node) {
  using In = FiniteCheckOp::In;
  const std::int64_t elements = node.in(In::x).elements();
  const int tasks = tasks_for(elements, 2.4);
  Kernel kernel;
  kernel.workspace_bytes = sizeof(std::uint32_t) * static_cast<std::size_t>(tasks);
  kernel.stages.push_back(
      parallel(tasks, elements, [=](const Args& args, const Task& task, Range range) {
        const bool finite = all_finite(args.in(In::x) + range.begin, range.size());
        args.work<std::uint32_t>()[task.index] = finite ? 0 : 1;
      }));
  kernel.stages.push_back(parallel(1, [=](const Args& args, const Task& task) {
    const auto* found = args.work<std::uint32_t>();
    const bool finite = args.inputs.size() < 3 || std::isfinite(args.in(In::loss)[0]);
    if (finite && std::all_of(found, found + tasks, [](auto f) { return f == 0; })) return;
    double& stopped = *args.in_out<double>(In::stopped);
    stopped = stop_at(stopped, *task.step);
  }));
  return kernel;
}

}  // namespace

void register_finite_check(Registry& registry) { registry.add(FiniteCheckOp::kName, prepare); }

}  // namespace linnet::cpu
