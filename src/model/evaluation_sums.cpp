// SPDX-License-Identifier: Apache-2.0
#include "model/evaluation_sums.h"

#include <vector>

#include "core/align.h"
#include "model/custom_metrics.h"
#include "model/loss_graph.h"
#include "model/session.h"
#include "ops/metrics/metrics.h"

namespace linnet {
namespace {

constexpr std::size_t kSumBytes = align_up(sizeof(double) * kCounters);

std::size_t loss_sums_offset(const NetworkDefinition& network) {
  return network.bytes(false) + kSumBytes;
}

/// Returns what the samples count in what a target's loss divides by; none: all alike.
Value counts_of(Graph& graph, const TargetLoss& target, Value y, Value t, Value weights) {
  if (target.how.custom != nullptr) return weights;
  return loss_counts(graph, target.how.loss, target.how.options, y, t, weights);
}

}  // namespace

std::size_t metric_sums_offset(const NetworkDefinition& network) {
  return loss_sums_offset(network) + network.outputs.size() * kSumBytes;
}

std::size_t evaluation_bytes(const NetworkDefinition& network) {
  return metric_sums_offset(network) - network.bytes(false) + kMetricNumbers * kSumBytes;
}

void add_sum(Graph& graph, const std::string& name, std::size_t& offset, Value mean, Value counts,
             std::int64_t batch) {
  const Value sums = graph.add_value(name, {DType::f64, Shape{kCounters}}, Storage::state, offset);
  std::vector<Value> operands{sums, mean};
  if (counts) operands.push_back(counts);
  graph.add(std::make_shared<MetricsOp>(MetricsAttrs{.batch = batch, .classification = false}),
            std::move(operands), name);
  offset += kSumBytes;
}

void add_loss_sums(Graph& graph, const NetworkDefinition& network, const StepData& data,
                   std::span<const Value> outputs, std::span<const Value> targets,
                   std::span<const Value> weights, std::span<const Value> losses,
                   std::int64_t batch) {
  std::size_t offset = loss_sums_offset(network);
  for (std::size_t i = 0; i < data.targets.size(); ++i) {
    const Value counts =
        counts_of(graph, data.targets[i], outputs[data.targets[i].output], targets[i], weights[i]);
    add_sum(graph, "loss", offset, losses[i], counts, batch);
  }
}

void reset_evaluation(const ModelState& model) {
  const std::vector<std::byte> zeros(evaluation_bytes(model.definition()));
  model.backend->upload(*model.statistics, model.counters_offset(), zeros);
}

Evaluation evaluation_of(const ModelState& model, const StepData& data) {
  const NetworkDefinition& network = model.definition();
  std::vector<double> sums(evaluation_bytes(network) / sizeof(double));
  model.backend->download(*model.statistics, model.counters_offset(),
                          std::as_writable_bytes(std::span(sums)));
  const auto at = [&](std::size_t offset) {
    return std::span(sums).subspan((offset - model.counters_offset()) / sizeof(double));
  };
  Evaluation evaluation =
      Counters::of(std::span(sums).first<kCounters>()).evaluation(data.classification());
  evaluation.loss = 0;
  for (std::size_t i = 0; i < data.targets.size(); ++i) {
    const std::span<double> loss = at(loss_sums_offset(network) + i * kSumBytes);
    evaluation.loss += Counters::of(loss.first<kCounters>()).evaluation(false).loss;
  }
  evaluation.metrics =
      metrics_of(data, at(metric_sums_offset(network)), kSumBytes / sizeof(double));
  return evaluation;
}

}  // namespace linnet
