// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "ops/shard_metrics/shard_metrics.h"

namespace linnet::cuda {
namespace {

/// One thread.
__global__ void shard_metrics_kernel(double* counters, const double* shards, double* stopped,
                                     std::uint64_t history, const StepInfo* step) {
  add_shard_metrics(counters, shards, stopped, history, *step);
}

std::optional<Kernel> prepare_shard_metrics(const NodeView& node, const Context& /*context*/) {
  using In = ShardMetricsOp::In;
  const auto history = static_cast<std::uint64_t>(node.attrs<ShardMetricsOp>().history);
  return Kernel{.enqueue = [=](const Args& args) {
    launch(args.stream, "shard_metrics", {.block = 1}, shard_metrics_kernel,
           args.in_out<double>(In::counters), args.in<double>(In::shards),
           args.in_out<double>(In::stopped), history, args.step);
  }};
}

}  // namespace

void register_shard_metrics(Registry& registry) {
  registry.add(ShardMetricsOp::kName, prepare_shard_metrics);
}

}  // namespace linnet::cuda
