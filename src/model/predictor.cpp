// SPDX-License-Identifier: Apache-2.0
#include <linnet/predictor.h>

#include "base/check.h"
#include "model/memory_report.h"
#include "model/predictor_state.h"
#include "model/step_graph.h"

namespace linnet {
namespace {

/// Where host threads compute, programs take host memory as it is.
bool reads_host_memory(const ModelState& model) { return model.backend->threads() > 0; }

template <class T>
void predict_from_host(PredictorState& state, std::span<const T> samples, std::span<float> outputs,
                       DType dtype) {
  const NetworkDefinition& network = state.model.definition();
  const auto sample = static_cast<std::size_t>(network.input_sample.elements());
  const Shape output = network.output_sample();
  require(sample > 0 && samples.size() % sample == 0,
          "the network takes samples of {}, {} elements each; got {} elements",
          to_string(network.input_sample), sample, samples.size());
  const auto count = static_cast<std::int64_t>(samples.size() / sample);
  require(static_cast<std::int64_t>(outputs.size()) == count * output.elements(),
          "{} samples of {} have outputs of {}, {} elements; got room for {}", count,
          to_string(network.input_sample), to_string(output.batched(count)),
          count * output.elements(), outputs.size());
  if (count == 0) return;
  PreparedBatch& batch = state.at(count, dtype);
  if (reads_host_memory(state.model)) return batch.run(samples.data(), outputs.data());
  const Backend& backend = *state.model.backend;
  backend.upload(*batch.input(), 0, std::as_bytes(samples));
  batch.run(batch.input()->data(), batch.output()->data());
  backend.download(*batch.output(), 0, std::as_writable_bytes(outputs));
}

}  // namespace

PreparedBatch::PreparedBatch(ModelState& model, std::int64_t batch, DType dtype, bool probabilities)
    : model_(model), batch_(batch) {
  const NetworkDefinition& network = model.definition();
  const ValueType record{dtype, network.input_sample.batched(1)};
  input_bytes_ = record.bytes() * static_cast<std::size_t>(batch);
  output_bytes_ = ValueType{DType::f32, network.output_sample().batched(batch)}.bytes();
  const auto graph_of = [&](std::int64_t n) {
    return prediction_step(network, record, n, probabilities, supports_of(*model.backend));
  };
  program_ = model.backend->prepare(graph_of(batch), {});
  const auto buffer = [&](Storage storage) -> std::shared_ptr<Buffer>& {
    return memory_.buffers[static_cast<std::size_t>(storage)];
  };
  buffer(Storage::parameter) = model.parameters;
  buffer(Storage::state) = model.statistics;
  const std::size_t bytes = program_->plan().bytes[static_cast<std::size_t>(Storage::arena)];
  try {
    buffer(Storage::arena) = model.backend->allocate(bytes);
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(fmt::format("{}: {}", error.what(),
                                  does_not_fit(program_->plan(), bytes, error.free, batch,
                                               graph_of)),
                      bytes, error.free);
  }
  program_->attach(memory_);
}

PreparedBatch::~PreparedBatch() {
  try {
    set_input(nullptr, nullptr);
  } catch (const Error&) {
    // A device that failed reads nothing any more.
  }
}

const std::shared_ptr<Buffer>& PreparedBatch::input() {
  if (input_ == nullptr) input_ = model_.backend->allocate(input_bytes_);
  return input_;
}

const std::shared_ptr<Buffer>& PreparedBatch::output() {
  if (output_ == nullptr) output_ = model_.backend->allocate(output_bytes_);
  return output_;
}

void PreparedBatch::set_input(const void* samples, std::shared_ptr<void> owner) {
  if (owner_ != nullptr) wait_for(model_);  // enqueued runs may read what is given up here
  other_input_ = samples;
  owner_ = std::move(owner);
}

void PreparedBatch::run() {
  run(other_input_ != nullptr ? other_input_ : input()->data(), output()->data());
}

void PreparedBatch::run(const void* samples, void* outputs) {
  // A program that is bound anew is captured anew.
  if (samples != bound_input_) program_->bind(kSamples, samples);
  if (outputs != bound_output_) program_->bind(kOutputs, outputs);
  bound_input_ = samples;
  bound_output_ = outputs;
  const auto records = static_cast<std::uint64_t>(batch_);
  program_->run({.records = records, .samples = records});
}

PreparedBatch& PredictorState::at(std::int64_t batch, DType dtype) {
  require(batch >= 1, "expected a batch of at least 1; got {}", batch);
  require(dtype == DType::f32 || dtype == DType::u8, "expected samples in f32 or u8; got {}",
          to_string(dtype));
  const auto found = prepared.find({batch, dtype});
  if (found != prepared.end()) return found->second;
  return prepared.try_emplace({batch, dtype}, model, batch, dtype, probabilities).first->second;
}

void wait_for(const ModelState& model) {
  std::byte last{};
  model.backend->download(*model.statistics, model.counters_offset(), {&last, 1});
}

Predictor::Predictor(Model& model, bool probabilities)
    : state_(new PredictorState{.model = model.state(), .probabilities = probabilities}) {}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Shape Predictor::input_shape() const { return state_->model.definition().input_sample; }
Shape Predictor::output_shape() const { return state_->model.definition().output_sample(); }

void Predictor::predict(std::span<const float> samples, std::span<float> outputs) {
  predict_from_host(*state_, samples, outputs, DType::f32);
}

void Predictor::predict(std::span<const std::uint8_t> samples, std::span<float> outputs) {
  predict_from_host(*state_, samples, outputs, DType::u8);
}

void* Predictor::input(std::int64_t batch, DType dtype) {
  return state_->at(batch, dtype).input()->data();
}

float* Predictor::output(std::int64_t batch, DType dtype) {
  return reinterpret_cast<float*>(state_->at(batch, dtype).output()->data());
}

void Predictor::set_input(std::int64_t batch, DType dtype, const void* samples,
                          std::shared_ptr<void> owner) {
  state_->at(batch, dtype).set_input(samples, std::move(owner));
}

void Predictor::run(std::int64_t batch, DType dtype) { state_->at(batch, dtype).run(); }
void Predictor::wait() const { wait_for(state_->model); }

}  // namespace linnet
