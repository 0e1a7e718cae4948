// SPDX-License-Identifier: Apache-2.0
#include "ops/leaf_metrics/leaf_metrics.h"

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  using In = LeafMetricsOp::In;
  const auto history = static_cast<std::uint64_t>(node.attrs<LeafMetricsOp>().history);
  Kernel kernel;
  kernel.stages.push_back(parallel(1, [=](const Args& args, const Task& task) {
    add_leaf_metrics(args.in_out<double>(In::counters), args.in<double>(In::leaves),
                     args.in_out<double>(In::stopped), history, *task.step);
  }));
  return kernel;
}

}  // namespace

void register_leaf_metrics(Registry& registry) { registry.add(LeafMetricsOp::kName, prepare); }

}  // namespace linnet::cpu
