// SPDX-License-Identifier: Apache-2.0
#include <linnet/model.h>
#include <linnet/predictor.h>
#include <linnet/table_transform.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "model/bind_columns.h"
#include "model/input_batches.h"
#include "model/output_form.h"
#include "model/predictor_state.h"
#include "model/step_graph.h"
#include "nn/ensembles.h"

namespace linnet {
namespace {

Network of_folds(const Model& model) {
  return Network(std::make_unique<NetworkDefinition>(
      answers_of_folds(model.state().definition(), model.answers())));
}

/// Returns the first outputs as `wanted` says, for every sample in the data set's order.
std::vector<Tensor> predict(Model& model, const Dataset& data, std::int64_t batch, OutputForm form,
                            std::size_t wanted) {
  require(batch > 0, "expected a batch of at least 1; got {}", batch);
  const NetworkDefinition& network = model.state().definition();
  if (has_folds(network, data)) {
    Model apart = copy_of(model.state(), of_folds(model), model.state().options);
    return predict(apart, with_fold_column(data), batch, form, wanted);
  }
  const std::vector<StepData::Part> parts = step_inputs(network, data);
  std::vector<InputBatches> inputs;
  inputs.reserve(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const DType held = network.held(network.inputs[i].dtype);
    inputs.emplace_back(parts[i], i == 0 ? std::nullopt : std::optional(held), data.size(), batch);
  }
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < wanted; ++i) {
    results.emplace_back(network.held(), network.output_sample(i).batched(data.size()));
  }
  PredictorState& predictor = predictor_of(model.state(), form);
  for (std::int64_t first = 0; first < data.size(); first += batch) {
    const std::int64_t count = std::min(batch, data.size() - first);
    std::vector<std::span<const std::byte>> in;
    for (InputBatches& input : inputs) in.push_back(input.at(first, count));
    std::vector<std::span<std::byte>> out;
    for (Tensor& result : results) {
      out.push_back(result.rows(first, first + count).writable_bytes());
    }
    predict_batch(predictor, count, parts[0].record.dtype, in, out,
                  static_cast<std::uint64_t>(first));
  }
  predictor.keep(kKeptProgramBytes);
  return results;
}

Dataset of_first_input(const Tensor& samples, const Model& model) {
  require(samples.shape().rank() > 0, "expected samples (N, ...); got one number");
  return {{{model.network().input_names()[0], samples}}, {}, {.name = "samples"}};
}

}  // namespace

Dataset with_fold_column(const Dataset& data) {
  std::vector<Column> inputs = data.inputs();
  inputs.push_back({.name = kFold, .data = data.folds().reshaped({data.size(), 1})});
  return {std::move(inputs), {}, {.name = data.info().name}};
}

Tensor predict_in_form(Model& model, const Dataset& data, std::int64_t batch, OutputForm form) {
  return predict(model, data, batch, form, 1)[0].to(DType::f32);
}

std::vector<Tensor> predict_outputs(Model& model, const Dataset& data, std::int64_t batch) {
  std::vector<Tensor> outputs =
      predict(model, data, batch, OutputForm::plain, model.state().definition().outputs.size());
  for (Tensor& output : outputs) output = output.to(DType::f32);
  return outputs;
}

Tensor with_offsets(const Tensor& outputs, const std::vector<double>& offsets) {
  if (std::ranges::all_of(offsets, [](double offset) { return offset == 0; })) return outputs;
  const Tensor wide = outputs.to(DType::f64);
  const std::span<const double> values = wide.as<double>();
  std::vector<double> all(values.begin(), values.end());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] += offsets[i % offsets.size()];
  return Tensor(std::move(all), outputs.shape());
}

Tensor Model::predict(const Dataset& data, std::int64_t batch) {
  return with_offsets(linnet::predict(*this, data, batch, OutputForm::plain, 1)[0],
                      table().target_offsets());
}

Tensor Model::predict(const Tensor& samples, std::int64_t batch) {
  return predict(of_first_input(samples, *this), batch);
}

Tensor Model::predict_probabilities(const Tensor& samples, std::int64_t batch) {
  return predict_probabilities(of_first_input(samples, *this), batch);
}

Tensor Model::predict_probabilities(const Dataset& data, std::int64_t batch) {
  return with_offsets(linnet::predict(*this, data, batch, probability_form(state()), 1)[0],
                      table().target_offsets());
}

std::vector<Column> Model::predict_all(const Dataset& data, std::int64_t batch) {
  const NetworkDefinition& network = state().definition();
  std::vector<Tensor> results =
      linnet::predict(*this, data, batch, OutputForm::plain, network.outputs.size());
  std::vector<Column> columns;
  for (std::size_t i = 0; i < results.size(); ++i) {
    Tensor result = std::move(results[i]);
    if (i == 0) result = with_offsets(result, table().target_offsets());
    columns.push_back({.name = network.outputs[i].name, .data = std::move(result)});
  }
  return columns;
}

}  // namespace linnet
