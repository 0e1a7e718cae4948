// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "ops/leaf_metrics/leaf_metrics.h"

namespace linnet::cuda {
namespace {

/// One thread.
__global__ void leaf_metrics_kernel(double* counters, const double* leaves, double* stopped,
                                    std::uint64_t history, const StepInfo* step) {
  add_leaf_metrics(counters, leaves, stopped, history, *step);
}

std::optional<Kernel> prepare_leaf_metrics(const NodeView& node, const Context& /*context*/) {
  using In = LeafMetricsOp::In;
  const auto history = static_cast<std::uint64_t>(node.attrs<LeafMetricsOp>().history);
  return Kernel{.enqueue = [=](const Args& args) {
    launch(args.stream, "leaf_metrics", {.block = 1}, leaf_metrics_kernel,
           args.in_out<double>(In::counters), args.in<double>(In::leaves),
           args.in_out<double>(In::stopped), history, args.step);
  }};
}

}  // namespace

void register_leaf_metrics(Registry& registry) {
  registry.add(LeafMetricsOp::kName, prepare_leaf_metrics);
}

}  // namespace linnet::cuda
