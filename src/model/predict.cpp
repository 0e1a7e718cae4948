// SPDX-License-Identifier: Apache-2.0
#include <linnet/model.h>
#include <linnet/predictor.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/memory.h"
#include "model/output_form.h"
#include "model/predictor_state.h"
#include "model/record_reader.h"
#include "model/step_graph.h"

namespace linnet {
namespace {

constexpr std::size_t kKeptSizes = 4;  // of batches whose programs stay for the next prediction

/// One input of a data set, batch by batch as the program takes it.
class InputBatches {
 public:
  /// first: the network's first input, whose samples the program takes in their own type.
  InputBatches(const StepData::Part& part, const NetworkInput& input, bool first,
               std::int64_t samples, std::int64_t batch)
      : part_(part), widens_(!first && part.record.dtype != input.dtype), samples_(samples) {
    if (part_.source == nullptr) return;
    reader_.emplace(std::vector{part_}, std::make_shared<ThreadTeam>());
    read_.resize(static_cast<std::size_t>(std::min(batch, samples)) * part_.record.bytes());
  }

  /// Records [first, first + count); good until the next call.
  std::span<const std::byte> at(std::int64_t first, std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * part_.record.bytes();
    std::span<const std::byte> records = std::span(read_).first(reader_ ? bytes : 0);
    if (reader_) {
      const auto size = static_cast<std::uint64_t>(samples_);
      reader_->read({.records = size, .samples = size}, false, static_cast<std::uint64_t>(first),
                    static_cast<std::uint64_t>(count), std::array{read_.data()});
    } else {
      records = part_.bytes.subspan(static_cast<std::size_t>(first) * part_.record.bytes(), bytes);
    }
    if (!widens_) return records;
    const Shape shape = part_.record.shape.with_batch(count);
    wide_ = Tensor::borrow(part_.record.dtype, shape, records).to(DType::f32);
    return wide_.bytes();
  }

 private:
  const StepData::Part& part_;
  bool widens_;  ///< bytes for an input of floats
  std::int64_t samples_;
  std::optional<RecordReader> reader_;  ///< of a source
  std::vector<std::byte> read_;
  Tensor wide_;
};

/// The first outputs as `wanted` says, for every sample in the data set's order.
std::vector<Tensor> predict(Model& model, const Dataset& data, std::int64_t batch, OutputForm form,
                            std::size_t wanted) {
  require(batch > 0, "expected a batch of at least 1; got {}", batch);
  const NetworkDefinition& network = model.state().definition();
  const std::vector<StepData::Part> parts = step_inputs(network, data);
  std::vector<InputBatches> inputs;
  inputs.reserve(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    inputs.emplace_back(parts[i], network.inputs[i], i == 0, data.size(), batch);
  }
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < wanted; ++i) {
    const Shape shape = network.output_sample(i).batched(data.size());
    const std::int64_t width = network.output_sample(i).elements();
    results.emplace_back(
        in_memory(fmt::format("the output of {} samples, {} numbers each,", data.size(), width),
                  [&] {
                    return Tensor(std::vector<float>(static_cast<std::size_t>(data.size()) *
                                                     static_cast<std::size_t>(width)),
                                  shape);
                  }));
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
    predict_batch(predictor, count, parts[0].record.dtype, in, out);
  }
  predictor.keep(kKeptSizes);
  return results;
}

}  // namespace

Tensor predict_in_form(Model& model, const Dataset& data, std::int64_t batch, OutputForm form) {
  return predict(model, data, batch, form, 1)[0];
}

Tensor Model::predict(const Dataset& data, std::int64_t batch) {
  return predict_in_form(*this, data, batch, OutputForm::plain);
}

Tensor Model::predict_probabilities(const Dataset& data, std::int64_t batch) {
  return predict_in_form(*this, data, batch, probability_form(state()));
}

std::vector<Column> Model::predict_all(const Dataset& data, std::int64_t batch) {
  const NetworkDefinition& network = state().definition();
  std::vector<Tensor> results =
      linnet::predict(*this, data, batch, OutputForm::plain, network.outputs.size());
  std::vector<Column> columns;
  for (std::size_t i = 0; i < results.size(); ++i) {
    columns.push_back({.name = network.outputs[i].name, .data = std::move(results[i])});
  }
  return columns;
}

}  // namespace linnet
