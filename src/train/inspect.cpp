// SPDX-License-Identifier: Apache-2.0
#include <linnet/inspect.h>

#include <map>

#include "base/check.h"
#include "model/custom_metrics.h"
#include "model/model_state.h"
#include "model/step_graph.h"

namespace linnet {
namespace {

Graph training_graph(const NetworkDefinition& network, std::int64_t batch,
                     const TrainingOptions& options, const Backend& backend) {
  return training_step(network, assumed_data(network, options.loss),
                       {.batch = batch,
                        .shuffle = options.shuffle,
                        .optimizer = resolve(options, network, 1),
                        .disabled_passes = options.disabled_passes},
                       supports_of(backend));
}

std::size_t needed_bytes(const Program& program) {
  return program.plan().total_bytes() + program.private_bytes();
}

}  // namespace

NetworkSummary summarize(const Network& network, std::int64_t batch, const TrainingOptions& options,
                         const ModelOptions& on) {
  require(batch >= 1, "expected a batch of at least 1; got {}", batch);
  const NetworkDefinition& definition = network.definition();
  NetworkSummary summary{.layers = {}, .parameters = network.parameters(), .batch = batch};
  std::map<std::string, std::int64_t> parameters;  // by layer
  for (const ParameterSpec& spec : definition.parameters) {
    if (spec.trainable) {
      parameters[spec.name.substr(0, spec.name.rfind('.'))] += spec.shape.elements();
    }
  }
  for (const Node& node : definition.graph.nodes()) {
    const Graph& graph = definition.graph;
    const double flops = node.op->cost(graph.types(node.inputs), graph.types(node.outputs)).flops /
                         static_cast<double>(kTemplateBatch);
    summary.flops_per_sample += node.op->is_view() ? 0 : flops;
    if (!summary.layers.empty() && summary.layers.back().name == node.name) {
      summary.layers.back().flops_per_sample += flops;  // a layer of several operators
      continue;
    }
    summary.layers.push_back({.name = node.name,
                              .kind = std::string(node.op->name()),
                              .output = graph.shape(node.outputs[0]).sample(),
                              .parameters = parameters[node.name],
                              .flops_per_sample = node.op->is_view() ? 0 : flops});
  }
  const auto backend = open_backend(on);
  const auto training = backend->prepare(training_graph(definition, batch, options, *backend), {});
  const auto inference =
      backend->prepare(prediction_step(definition,
                                       assumed_data(definition, options.loss).parts[0].record.dtype,
                                       batch, OutputForm::plain, supports_of(*backend)),
                       {});
  summary.train_peak_bytes = needed_bytes(*training) + metric_sums_bytes();
  summary.predict_peak_bytes = needed_bytes(*inference);
  return summary;
}

std::string dump_training_step(const Network& network, std::int64_t batch, Dump what,
                               const TrainingOptions& options, const ModelOptions& on) {
  require(batch >= 1, "expected a batch of at least 1; got {}", batch);
  const auto backend = open_backend(on);
  Graph graph = training_graph(network.definition(), batch, options, *backend);
  if (what == Dump::graph) return dump(graph);
  return dump(backend->prepare(std::move(graph), {})->plan());
}

}  // namespace linnet
