// SPDX-License-Identifier: Apache-2.0
#include "model/step_graph.h"

#include "base/check.h"
#include "core/align.h"
#include "graph/differentiate.h"
#include "model/loss_graph.h"
#include "ops/gather_batch/gather_batch.h"
#include "ops/metrics/metrics.h"
#include "ops/reshape/reshape.h"
#include "ops/softmax/softmax.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

struct Batch {
  Value x;
  Value target;
};

Batch gather(Graph& graph, const Records& records, std::int64_t batch, bool shuffle) {
  const Value samples = graph.add_value("samples", records.samples, Storage::external, kSamples);
  const Value targets = graph.add_value("targets", records.targets, Storage::external, kTargets);
  const GatherBatchAttrs attrs{.batch = batch, .shuffle = shuffle};
  return {graph.emit(GatherBatchOp(attrs), {samples}, "samples"),
          graph.emit(GatherBatchOp(attrs), {targets}, "targets")};
}

void add_metrics(Graph& graph, const NetworkDefinition& network, std::int64_t batch, Loss loss,
                 Value loss_value, Value scores, Value target, std::int64_t history) {
  const Value counters = graph.add_value("counters", {DType::f64, Shape{kCounters + history}},
                                         Storage::state, network.bytes(false));
  const bool classification = loss == Loss::cross_entropy;
  std::vector<Value> operands{counters, loss_value};
  if (classification) operands.insert(operands.end(), {scores, target});
  graph.add(std::make_shared<MetricsOp>(
                MetricsAttrs{.batch = batch, .classification = classification, .history = history}),
            std::move(operands), "metrics");
}

/// Puts a gradient into its place of the flat gradient arena.
void store_gradient(Graph& graph, Value gradient, const ParameterSpec& spec) {
  if (graph.producer(gradient) == nullptr || graph.info(gradient).storage != Storage::arena) {
    gradient = graph.emit(CopyOp(), {gradient}, spec.name);  // shared with another parameter
  }
  graph.info(gradient).storage = Storage::gradient;
  graph.info(gradient).offset = spec.offset;
}

void add_update(Graph& graph, const NetworkDefinition& network, const OptimizerAttrs& optimizer) {
  const auto length = static_cast<std::int64_t>(network.bytes(true) / sizeof(float));
  const ValueType flat{DType::f32, Shape{length}};
  const Value gradients = graph.add_value("gradients", flat, Storage::gradient);
  std::vector<Value> operands{graph.add_value("parameters", flat, Storage::parameter), gradients};
  for (int m = 0; m < moments(optimizer); ++m) {
    operands.push_back(graph.add_value(fmt::format("moment{}", m + 1), flat, Storage::optimizer,
                                       static_cast<std::size_t>(m) * align_up(flat.bytes())));
  }
  if (optimizer.clip_norm > 0) {
    operands.push_back(graph.emit(GlobalNormOp(), {gradients}, "optimizer"));
  }
  graph.add(std::make_shared<OptimizerUpdateOp>(optimizer), std::move(operands), "optimizer");
}

}  // namespace

Supports supports_of(const Backend& backend) {
  return [&backend](const Op& op, std::span<const ValueType> inputs,
                    std::span<const ValueType> outputs) {
    return backend.supports(op, inputs, outputs);
  };
}

Graph training_step(const NetworkDefinition& network, const Records& records,
                    const TrainingStep& step, const Supports& supports) {
  Graph graph;
  const Batch batch = gather(graph, records, step.batch, step.shuffle);
  std::vector<Value> parameters;
  const Value y = instantiate(network, graph, batch.x, Mode::training, parameters);
  const Value loss = add_loss(graph, step.loss, y, batch.target);
  add_metrics(graph, network, step.batch, step.loss, loss, y, batch.target, kLossHistory);
  run_passes(graph, forward_passes(), supports, step.disabled_passes);

  std::vector<Value> trainable;
  std::vector<const ParameterSpec*> specs;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!network.parameters[i].trainable) continue;
    trainable.push_back(parameters[i]);
    specs.push_back(&network.parameters[i]);
  }
  const std::vector<Value> gradients = differentiate(graph, loss, trainable);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i]) store_gradient(graph, gradients[i], *specs[i]);
  }
  add_update(graph, network, step.optimizer);
  run_passes(graph, final_passes(), supports, step.disabled_passes);
  return graph;
}

Graph evaluation_step(const NetworkDefinition& network, const Records& records, std::int64_t batch,
                      Loss loss, const Supports& supports) {
  Graph graph;
  const Batch operands = gather(graph, records, batch, false);
  std::vector<Value> parameters;
  const Value y = instantiate(network, graph, operands.x, Mode::inference, parameters);
  const Value loss_value = add_loss(graph, loss, y, operands.target);
  add_metrics(graph, network, batch, loss, loss_value, y, operands.target, 0);
  run_passes(graph, forward_passes(), supports);
  return graph;
}

Graph prediction_step(const NetworkDefinition& network, const ValueType& samples,
                      std::int64_t batch, bool probabilities, const Supports& supports) {
  Graph graph;
  const Value data = graph.add_value("samples", samples, Storage::external, kSamples);
  const Value x = graph.emit(GatherBatchOp({.batch = batch}), {data}, "samples");
  std::vector<Value> parameters;
  Value y = instantiate(network, graph, x, Mode::inference, parameters);
  const Node* last = graph.producer(y);
  if (probabilities && op_as<SoftmaxOp>(last) == nullptr) {
    y = graph.emit(SoftmaxOp(), {y}, "probabilities");
  }
  graph.info(y).storage = Storage::external;
  graph.info(y).offset = kOutputs;
  run_passes(graph, forward_passes(), supports);
  return graph;
}

}  // namespace linnet
