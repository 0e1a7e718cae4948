// SPDX-License-Identifier: Apache-2.0
#include <linnet/predictor.h>

#include <array>
#include <vector>

#include "base/check.h"
#include "base/memory.h"
#include "model/memory_report.h"
#include "model/output_form.h"
#include "model/predictor_state.h"
#include "model/step_graph.h"

namespace linnet {
namespace {

/// Where host threads compute, programs take host memory as it is.
bool reads_host_memory(const ModelState& model) { return model.backend->threads() > 0; }

/// An idle program, this call's alone; one more is prepared where none is idle.
class Use {
 public:
  Use(PredictorState& state, std::int64_t batch, DType dtype) : state_(state) {
    const std::lock_guard lock(state.mutex);
    prepared_ = &state.sized(batch, dtype);
    if (prepared_->idle.empty()) {
      prepared_->idle.reserve(prepared_->all.size() + 1);
      prepared_->all.push_back(
          std::make_unique<PreparedBatch>(state.model, batch, dtype, state.form));
      prepared_->idle.push_back(prepared_->all.back().get());
    }
    batch_ = prepared_->idle.back();
    prepared_->idle.pop_back();
  }
  ~Use() {
    const std::lock_guard lock(state_.mutex);
    prepared_->idle.push_back(batch_);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  PreparedBatch* operator->() const { return batch_; }

 private:
  PredictorState& state_;
  PredictorState::Prepared* prepared_ = nullptr;
  PreparedBatch* batch_ = nullptr;
};

void predict_from_host(PredictorState& state, std::span<const std::byte> samples,
                       std::span<float> outputs, DType dtype) {
  const NetworkInput& input = state.model.definition().only_input();
  const auto sample = static_cast<std::size_t>(input.sample.elements());
  const std::size_t elements = samples.size() / size_of(dtype);
  if (sample == 0 || elements % sample != 0) {  // require() would build its texts in every call
    fail("the network takes samples of {}, {} elements each; got {} elements",
         to_string(input.sample), sample, elements);
  }
  const auto count = static_cast<std::int64_t>(elements / sample);
  if (static_cast<std::int64_t>(outputs.size()) != count * state.output_elements) {
    const Shape wanted = state.model.definition().output_sample().batched(count);
    fail("{} samples of {} have outputs of {}, {} elements; got room for {}", count,
         to_string(input.sample), to_string(wanted), wanted.elements(), outputs.size());
  }
  if (count == 0) return;
  predict_batch(state, count, dtype, std::array{samples},
                std::array{std::as_writable_bytes(outputs)});
}

}  // namespace

void predict_batch(PredictorState& state, std::int64_t count, DType dtype,
                   std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs) {
  if (reads_host_memory(state.model)) return Use(state, count, dtype)->run(inputs, outputs);
  const std::lock_guard lock(state.mutex);
  PreparedBatch& batch = state.at(count, dtype);
  const Backend& backend = *state.model.backend;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    backend.upload(*batch.input(i), 0, inputs[i]);
  }
  batch.run({}, {});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    backend.download(*batch.output(i), 0, outputs[i]);
  }
}

PreparedBatch::PreparedBatch(ModelState& model, std::int64_t batch, DType dtype, OutputForm form)
    : model_(model), batch_(batch), inputs_(model.definition().inputs.size()) {
  const NetworkDefinition& network = model.definition();
  for (const NetworkInput& input : network.inputs) {
    const DType type = ports_.empty() ? dtype : input.dtype;
    ports_.push_back({.bytes = ValueType{type, input.sample.batched(batch)}.bytes()});
  }
  for (std::size_t i = 0; i < network.outputs.size(); ++i) {
    ports_.push_back(
        {.bytes = ValueType{DType::f32, network.output_sample(i).batched(batch)}.bytes()});
  }
  const auto graph_of = [&](std::int64_t n) {
    return prediction_step(network, dtype, n, form, supports_of(*model.backend));
  };
  program_ = in_memory(fmt::format("the program that predicts {} samples at once", batch), [&] {
    return model.backend->prepare(graph_of(batch), {.fixed_weights = true});
  });
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

const std::shared_ptr<Buffer>& PreparedBatch::memory_of(std::size_t port) {
  Port& p = ports_[port];
  if (p.memory == nullptr) p.memory = model_.backend->allocate(p.bytes);
  return p.memory;
}

void PreparedBatch::set_input(const void* samples, std::shared_ptr<void> owner) {
  if (owner_ != nullptr) wait_for(model_);  // enqueued runs may read what is given up here
  other_input_ = samples;
  owner_ = std::move(owner);
}

void PreparedBatch::bind(std::size_t port, const void* address) {
  if (address == ports_[port].bound) return;  // a program that is bound is captured anew
  program_->bind(port, address);
  ports_[port].bound = address;
}

void PreparedBatch::run() {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    bind(i, i == 0 && other_input_ != nullptr ? other_input_ : memory_of(i)->data());
  }
  run_bound();
}

void PreparedBatch::run(std::span<const std::span<const std::byte>> inputs,
                        std::span<const std::span<std::byte>> outputs) {
  for (std::size_t i = 0; i < inputs_; ++i) {
    bind(i, i < inputs.size() ? inputs[i].data() : memory_of(i)->data());
  }
  for (std::size_t i = 0; inputs_ + i < ports_.size(); ++i) {
    bind(inputs_ + i, i < outputs.size() ? outputs[i].data() : memory_of(inputs_ + i)->data());
  }
  run_bound();
}

void PreparedBatch::run_bound() {
  if (model_.weights_shared || weights_version_ != model_.weights_version) {
    program_->weights_changed();
    weights_version_ = model_.weights_version;
  }
  program_->run(step());
}

StepInfo PreparedBatch::step() const {
  const auto records = static_cast<std::uint64_t>(batch_);
  return {.records = records, .samples = records};
}

PredictorState::Prepared& PredictorState::sized(std::int64_t batch, DType dtype) {
  require(batch >= 1, "expected a batch of at least 1; got {}", batch);
  const bool ids = model.definition().inputs[0].dtype == DType::i32;
  require(ids ? dtype == DType::i32 : dtype == DType::f32 || dtype == DType::u8,
          "expected samples in {}; got {}", ids ? "i32" : "f32 or u8", to_string(dtype));
  if (const auto found = prepared.find({batch, dtype}); found != prepared.end()) {
    return found->second;
  }
  auto first = std::make_unique<PreparedBatch>(model, batch, dtype, form);
  Prepared& made = prepared[{batch, dtype}];
  made.idle.push_back(first.get());
  made.all.push_back(std::move(first));
  return made;
}

void wait_for(const ModelState& model) {
  std::byte last{};
  model.backend->download(*model.statistics, model.counters_offset(), {&last, 1});
}

Predictor::Predictor(Model& model, bool probabilities)
    : state_(new PredictorState{.model = model.state(),
                                .form = probabilities ? probability_form(model.state())
                                                      : OutputForm::plain}) {}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Shape Predictor::input_shape() const { return state_->model.definition().inputs[0].sample; }
Shape Predictor::output_shape() const { return state_->model.definition().output_sample(); }

void Predictor::predict(std::span<const float> samples, std::span<float> outputs) const {
  predict_from_host(*state_, std::as_bytes(samples), outputs, DType::f32);
}

void Predictor::predict(std::span<const std::uint8_t> samples, std::span<float> outputs) const {
  predict_from_host(*state_, std::as_bytes(samples), outputs, DType::u8);
}

void Predictor::predict(std::span<const std::int32_t> samples, std::span<float> outputs) const {
  predict_from_host(*state_, std::as_bytes(samples), outputs, DType::i32);
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
