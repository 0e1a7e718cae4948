// SPDX-License-Identifier: Apache-2.0
#include "ops/finite_check/finite_check.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

/// The bits that are all set in infinities and NaNs, and in no other number.
constexpr std::uint32_t kExponent = 0x7F800000;

/// Finds whether a number of each task's part is not finite, by operations that every vector unit
/// has, then of all.
std::optional<Kernel> prepare(const NodeView& node) {
  using In = FiniteCheckOp::In;
  const std::int64_t elements = node.in(In::x).elements();
  const int tasks = tasks_for(elements, 2.4);
  Kernel kernel;
  kernel.workspace_bytes = sizeof(std::uint32_t) * static_cast<std::size_t>(tasks);
  kernel.stages.push_back(
      parallel(tasks, elements, [=](const Args& args, const Task& task, Range range) {
        const float* x = args.in(In::x);
        std::uint32_t found = 0;
        for (std::int64_t i = range.begin; i < range.end; ++i) {
          const std::uint32_t exponent = std::bit_cast<std::uint32_t>(x[i]) & kExponent;
          found |= exponent == kExponent ? ~std::uint32_t{0} : 0;
        }
        args.work<std::uint32_t>()[task.index] = found;
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
