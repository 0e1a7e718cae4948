// SPDX-License-Identifier: Apache-2.0
#include <linnet/inspect.h>

#include <map>

#include "base/check.h"
#include "model/model_state.h"
#include "model/named_places.h"
#include "model/step_graph.h"
#include "nn/layer_records.h"
#include "train/memory_plan.h"

namespace linnet {
namespace {

/// The rows of a summary: one for each layer that records know, with all operators that are its
/// parts and no layers themselves; one for each name of other operators.
class LayerRows {
 public:
  explicit LayerRows(const NetworkDefinition& network) {
    for_each_record(network.layers, [&](const SettingTable& record) {
      LayerSummary& row = known_[std::string(text_of(record, "name"))];
      row.kind = text_of(record, "type");
      row.settings = settings_text(record);
    });
  }

  /// Returns the row for an operator or a weight by its layer's name.
  LayerSummary& row_of(const std::string& name, std::string_view op) {
    const std::string layer = layer_of(name);
    const auto [found, is_new] = places_.emplace(layer, rows_.size());
    if (is_new) {
      const auto known = known_.find(layer);
      rows_.emplace_back();
      if (known != known_.end()) rows_.back() = known->second;
      if (known == known_.end()) rows_.back().kind = op;
      rows_.back().name = layer;
    }
    return rows_[found->second];
  }

  std::vector<LayerSummary> take() { return std::move(rows_); }

 private:
  /// Returns the innermost layer that is known and has this part; the name itself if none has.
  std::string layer_of(const std::string& name) const {
    for (std::string layer = name; !layer.empty();) {
      if (known_.contains(layer)) return layer;
      const std::size_t dot = layer.rfind('.');
      layer.resize(dot == std::string::npos ? 0 : dot);
    }
    return name;
  }

  std::map<std::string, LayerSummary, std::less<>> known_;
  std::map<std::string, std::size_t> places_;
  std::vector<LayerSummary> rows_;
};

}  // namespace

NetworkSummary summarize(const Network& network, std::int64_t batch, const TrainingOptions& options,
                         const ModelOptions& on) {
  require(batch >= 1, "expected a batch of at least 1; got {}", batch);
  const NetworkDefinition& definition = network.definition();
  NetworkSummary summary{.layers = {}, .parameters = network.parameters(), .batch = batch};
  LayerRows rows(definition);
  for (const Node& node : definition.graph.nodes()) {
    const Graph& graph = definition.graph;
    const double flops =
        node.op->is_view() ? 0 : cost_of(graph, node).flops / static_cast<double>(kTemplateBatch);
    summary.flops_per_sample += flops;
    LayerSummary& row = rows.row_of(node.name, node.op->name());
    row.output = graph.shape(result_of(definition, node)).sample();
    row.flops_per_sample += flops;
  }
  for (const ParameterSpec& spec : definition.parameters) {
    if (!spec.trainable) continue;
    rows.row_of(spec.name.substr(0, spec.name.rfind('.')), "").parameters += spec.shape.elements();
  }
  summary.layers = rows.take();
  const auto backend = open_backend(on);
  const NetworkDefinition planned = laid_out_for(definition, backend->capabilities().f64);
  summary.training = planned_training(planned, batch, options, *backend);
  summary.prediction = prediction_memory(planned, batch, options.loss, *backend);
  return summary;
}

std::string dump_training_step(const Network& network, std::int64_t batch, Dump what,
                               const TrainingOptions& options, const ModelOptions& on) {
  require(batch >= 1, "expected a batch of at least 1; got {}", batch);
  const auto backend = open_backend(on);
  const NetworkDefinition planned = laid_out_for(network.definition(), backend->capabilities().f64);
  Graph graph = training_graph(planned, batch, options, *backend);
  if (what == Dump::graph) return dump(graph);
  return dump(backend->prepare(std::move(graph), {})->plan());
}

}  // namespace linnet
