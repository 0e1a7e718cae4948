// SPDX-License-Identifier: Apache-2.0
#include "model/jacobian_graph.h"

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "fusions/fusions.h"
#include "graph/add.h"
#include "graph/differentiate.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/bias_add/bias_add.h"
#include "ops/dense/dense.h"
#include "ops/gather_batch/gather_batch.h"
#include "ops/reshape/reshape.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

using Term = JacobianLayout::Term;

/// Finds the terms of gradients, and hands their operands out as results.
class JacobianGraph {
 public:
  JacobianGraph(const StepData& data, std::int64_t batch)
      : batch_(batch), slot_(data.parts.size()) {
    for (std::size_t i = 0; i < data.parts.size(); ++i) {
      const StepData::Part& part = data.parts[i];
      if (i == data.weights) {
        parts_.emplace_back();
        continue;
      }
      const Value all = graph.add_value(part.name, part.record, Storage::external, i);
      parts_.push_back(graph.emit(GatherBatchOp({.batch = batch}), {all}, part.name));
    }
  }

  std::span<const Value> parts() const { return parts_; }
  bool one_sample() const { return one_sample_; }

  /// Copies a value into a slot of its own.
  JacobianLayout::Result give(Value value, const std::string& name) {
    const JacobianLayout::Result result{slot_++, graph.shape(value).elements() / batch_};
    const Value copy = graph.emit(CopyOp(), {value}, name);
    graph.info(copy).storage = Storage::external;
    graph.info(copy).offset = result.slot;
    return result;
  }
  Value add_seed(const ValueType& type) {
    return graph.add_value("seed", type, Storage::external, slot_++);
  }

  /// Adds the terms of the gradient of a weight that begins at `first`.
  void add_terms(Value gradient, std::size_t first, std::vector<Term>& terms) {
    const Node* from = graph.producer(gradient);
    const auto rows = [&](Value value) { return graph.shape(value)[0] == batch_; };
    const auto width = [&](Value value) { return graph.shape(value).elements() / batch_; };
    if (op_as<AddOp>(from) != nullptr) {  // two uses of one weight
      const std::array<Value, 2> both{from->inputs[AddOp::In::a], from->inputs[AddOp::In::b]};
      for (const Value part : both) add_terms(part, first, terms);
      return;
    }
    if (op_as<ReshapeOp>(from) != nullptr) {
      return add_terms(from->inputs.front(), first, terms);
    }
    if (op_as<DenseGradWeightOp>(from) != nullptr &&
        rows(from->inputs[DenseGradWeightOp::In::dz])) {
      const Value dz = from->inputs[DenseGradWeightOp::In::dz];
      const Value x = from->inputs[DenseGradWeightOp::In::x];
      const std::int64_t units = width(dz);
      const std::int64_t features = width(x);
      terms.push_back({.kind = Term::Kind::product,
                       .first = first,
                       .left = result_of(dz),
                       .right = result_of(x),
                       .units = units,
                       .features = features});
      return;
    }
    const auto* sum = op_as<SumLeadingOp>(from);
    const bool is_row = op_as<BiasGradOp>(from) != nullptr
                            ? graph.shape(from->inputs.front()).rank() == 2
                            : sum != nullptr && sum->attrs().axes == 1;
    if (is_row && rows(from->inputs.front())) {
      const Value row = from->inputs.front();
      const std::int64_t units = width(row);
      terms.push_back(
          {.kind = Term::Kind::row, .first = first, .left = result_of(row), .units = units});
      return;
    }
    one_sample_ = true;
    const std::int64_t units = graph.shape(gradient).elements();
    terms.push_back(
        {.kind = Term::Kind::whole, .first = first, .left = result_of(gradient), .units = units});
  }

  Graph graph;
  std::vector<JacobianLayout::Result> results;

 private:
  /// Returns the place of a value among the results.
  std::size_t result_of(Value value) {
    const auto [found, is_new] = places_.try_emplace(value.id, results.size());
    if (is_new) results.push_back(give(value, "derivatives"));
    return found->second;
  }

  std::int64_t batch_;
  std::size_t slot_;
  bool one_sample_ = false;
  std::vector<Value> parts_;
  std::map<int, std::size_t> places_;  ///< of results, by the ids of values
};

}  // namespace

JacobianStep jacobian_step(const NetworkDefinition& whole, const StepData& data,
                           const std::vector<bool>& trains, bool derivatives, std::int64_t batch,
                           const Supports& supports) {
  const NetworkDefinition& network = data.run_of(whole);
  JacobianGraph build(data, batch);
  Graph& graph = build.graph;
  JacobianLayout layout;
  std::vector<Value> parameters;
  const std::vector<Value> outputs = instantiate(network, graph, build.parts().first(data.inputs),
                                                 batch, Mode::training, parameters, trains);
  std::vector<Value> trained;
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!trains[i]) continue;
    trained.push_back(parameters[i]);
    firsts.push_back(layout.unknowns);
    layout.unknowns += static_cast<std::size_t>(whole.parameters[i].shape.elements());
  }
  for (const TargetLoss& target : data.targets) {
    const Value y = outputs[target.output];
    layout.outputs.push_back(build.give(y, "output"));
    layout.targets.push_back(target.how.target ? JacobianLayout::Result{}
                                               : build.give(build.parts()[target.part], "target"));
  }
  for (std::size_t i = 0; derivatives && i < data.targets.size(); ++i) {
    const Value y = outputs[data.targets[i].output];
    const ValueType type = graph.type(y);
    const std::int64_t width = type.shape.elements() / batch;
    for (std::int64_t element = 0; element < width; ++element) {
      const Value seed = build.add_seed(type);
      layout.seeds.push_back({graph.info(seed).offset, width, element});
      const std::vector<Value> gradients =
          differentiate(graph, std::span(&y, 1), std::span(&seed, 1), trained);
      JacobianLayout::Row row{.target = i, .element = element};
      for (std::size_t p = 0; p < gradients.size(); ++p) {
        if (gradients[p]) build.add_terms(gradients[p], firsts[p], row.terms);
      }
      layout.rows.push_back(std::move(row));
    }
  }
  layout.results = std::move(build.results);
  layout.one_sample = build.one_sample();
  if (!derivatives) {
    all_passes().run(Phase::forward, graph, supports);
    all_passes().run(Phase::inference, graph, supports);
  }
  all_passes().run(Phase::final, graph, supports);
  return {std::move(graph), std::move(layout)};
}

}  // namespace linnet
