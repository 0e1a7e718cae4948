// SPDX-License-Identifier: Apache-2.0
#include "ops/shard_metrics/shard_metrics.h"

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  using In = ShardMetricsOp::In;
  const auto history = static_cast<std::uint64_t>(node.attrs<ShardMetricsOp>().history);
  Kernel kernel;
  kernel.stages.push_back(parallel(1, [=](const Args& args, const Task& task) {
    add_shard_metrics(args.in_out<double>(In::counters), args.in<double>(In::shards),
                      args.in_out<double>(In::stopped), history, *task.step);
  }));
  return kernel;
}

}  // namespace

void register_shard_metrics(Registry& registry) { registry.add(ShardMetricsOp::kName, prepare); }

}  // namespace linnet::cpu
