// SPDX-License-Identifier: Apache-2.0
#include <linnet/model.h>
#include <linnet/predictor.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/memory.h"
#include "model/output_form.h"
#include "model/predictor_state.h"
#include "model/record_reader.h"
#include "model/step_graph.h"

namespace linnet {
namespace {

/// The first outputs as `wanted` says, for every sample in the data set's order.
std::vector<std::vector<float>> predict(Model& model, const Dataset& data, std::int64_t batch,
                                        OutputForm form, std::size_t wanted) {
  require(batch > 0, "expected a batch of at least 1; got {}", batch);
  const NetworkDefinition& network = model.state().definition();
  const std::vector<StepData::Part> inputs = step_inputs(network, data);
  data.validate_inputs();  // a column shorter than the samples would be read beyond its end
  std::vector<std::vector<float>> results(wanted);
  std::vector<std::size_t> width(wanted);  // floats of a sample
  for (std::size_t i = 0; i < wanted; ++i) {
    width[i] = static_cast<std::size_t>(network.output_sample(i).elements());
    results[i] =
        in_memory(fmt::format("the output of {} samples, {} numbers each,", data.size(), width[i]),
                  [&] {
                    return std::vector<float>(static_cast<std::size_t>(data.size()) * width[i]);
                  });
  }
  Predictor predictor(model);
  predictor.state().form = form;
  // The samples alone may come from a source; they are then read batch by batch.
  const bool read = data.source != nullptr;
  const RecordReader reader({inputs[0]}, read ? std::make_shared<ThreadTeam>() : nullptr);
  const auto size = static_cast<std::uint64_t>(data.size());
  const StepInfo whole{.records = size, .samples = size};
  std::vector<std::byte> samples(
      read ? static_cast<std::size_t>(std::min(batch, data.size())) * inputs[0].record.bytes() : 0);
  for (std::int64_t first = 0; first < data.size(); first += batch) {
    const auto from = static_cast<std::size_t>(first);
    const std::int64_t count = std::min(batch, data.size() - first);
    const auto records = static_cast<std::size_t>(count);
    std::vector<std::span<const std::byte>> in;
    for (const StepData::Part& part : inputs) {
      const std::size_t bytes = part.record.bytes();
      if (part.source == nullptr) in.push_back(part.bytes.subspan(from * bytes, records * bytes));
    }
    if (data.source != nullptr) {
      reader.read(whole, false, from, records, std::array{samples.data()});
      in.insert(in.begin(), std::span(samples).first(records * inputs[0].record.bytes()));
    }
    std::vector<std::span<std::byte>> out;
    for (std::size_t i = 0; i < wanted; ++i) {
      out.push_back(std::as_writable_bytes(
          std::span(results[i]).subspan(from * width[i], records * width[i])));
    }
    predict_batch(predictor.state(), count, data.sample_dtype, in, out);
  }
  return results;
}

}  // namespace

std::vector<float> predict_in_form(Model& model, const Dataset& data, std::int64_t batch,
                                   OutputForm form) {
  return predict(model, data, batch, form, 1)[0];
}

std::vector<float> Model::predict(const Dataset& data, std::int64_t batch) {
  return predict_in_form(*this, data, batch, OutputForm::plain);
}

std::vector<float> Model::predict_probabilities(const Dataset& data, std::int64_t batch) {
  return predict_in_form(*this, data, batch, probability_form(state()));
}

std::vector<Column> Model::predict_all(const Dataset& data, std::int64_t batch) {
  const NetworkDefinition& network = state().definition();
  auto results = linnet::predict(*this, data, batch, OutputForm::plain, network.outputs.size());
  std::vector<Column> columns;
  for (std::size_t i = 0; i < results.size(); ++i) {
    columns.push_back({.name = network.outputs[i].name,
                       .shape = network.output_sample(i),
                       .floats = std::move(results[i])});
  }
  return columns;
}

}  // namespace linnet
