// SPDX-License-Identifier: Apache-2.0
#include "model/shard_layout.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "core/align.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/metrics/metrics.h"
#include "ops/share/share.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

constexpr std::size_t kRunningMean = 3;  // operands of a BatchNormOp
constexpr std::size_t kRunningVariance = 4;

/// Returns how often the network applies the norm that it applies most: blocks may share their
/// weights.
std::size_t most_applications(const NetworkDefinition& network) {
  std::map<int, std::size_t> applications;
  std::size_t most = 0;
  for (const Node& node : network.graph.nodes()) {
    if (op_as<BatchNormOp>(&node) == nullptr) continue;
    most = std::max(most, ++applications[node.inputs[kRunningMean].id]);
  }
  return most;
}

}  // namespace

ShardLayout::ShardLayout(const NetworkDefinition& network, bool collected)
    : number_bytes(size_of(network.numbers)),
      statistics_bytes(most_applications(network) * align_up(network.bytes(false))),
      statistics(collected ? 0 : align_up(network.bytes(true))),
      bytes(statistics + statistics_bytes),
      counters(bytes),
      measured(counters + align_up(sizeof(double) * kCounters)) {}

std::vector<Bucket> gradient_buckets(const NetworkDefinition& network, std::size_t bytes) {
  std::vector<std::size_t> places;
  for (const ParameterSpec& parameter : network.parameters) {
    if (parameter.trainable) places.push_back(parameter.offset);
  }
  std::ranges::sort(places, std::greater());
  std::vector<Bucket> buckets;
  std::size_t end = ShardLayout(network).statistics;
  for (const std::size_t begin : places) {
    if (begin > 0 && end - begin < bytes) continue;
    buckets.push_back({begin, end});
    end = begin;
  }
  return buckets;
}

std::vector<MeasuredStatistics> measure_statistics(Graph& graph, const NetworkDefinition& network,
                                                   std::size_t place) {
  std::vector<MeasuredStatistics> measured;
  std::map<std::size_t, std::size_t> applications;  // so far, by the running mean's place
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node node = graph.nodes()[n];
    const auto* norm = op_as<BatchNormOp>(&node);
    if (norm == nullptr) continue;
    const std::size_t application = applications[graph.info(node.inputs[kRunningMean]).offset]++;
    std::vector<Value> inputs = node.inputs;
    for (const std::size_t i : {kRunningMean, kRunningVariance}) {
      const ValueInfo running = graph.info(node.inputs[i]);
      const auto begin = static_cast<std::int64_t>(running.offset / size_of(network.numbers));
      measured.push_back(
          {application, begin, begin + running.type.shape.elements(), norm->attrs().momentum});
      inputs[i] =
          graph.add_value(running.name, running.type, Storage::gradient,
                          place + application * align_up(network.bytes(false)) + running.offset);
    }
    BatchNormAttrs attrs = norm->attrs();
    attrs.momentum = 1;  // the batch's alone
    graph.rewrite(n, std::make_shared<BatchNormOp>(attrs), std::move(inputs), node.outputs);
  }
  return measured;
}

bool has_batch_norms(const NetworkDefinition& network) { return most_applications(network) > 0; }

void sync_norms(Graph& graph) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node node = graph.nodes()[n];
    const auto* norm = op_as<BatchNormOp>(&node);
    if (norm == nullptr) continue;
    BatchNormAttrs attrs = norm->attrs();
    attrs.sync = true;
    graph.rewrite(n, std::make_shared<BatchNormOp>(attrs), node.inputs, node.outputs);
  }
}

void share_statistics(Graph& graph, const ShardLayout& layout) {
  const auto elements = static_cast<std::int64_t>(layout.statistics_bytes / layout.number_bytes);
  const Value measured = graph.add_value("statistics", {DType::f32, Shape{elements}},
                                         Storage::gradient, layout.measured);
  const Value shared = graph.emit(ShareOp(), {measured}, "statistics");
  graph.info(shared).storage = Storage::gradient;
  graph.info(shared).offset = layout.statistics;
}

}  // namespace linnet
