// SPDX-License-Identifier: Apache-2.0
#include <linnet/predictor.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/memory.h"
#include "data/lengths.h"
#include "model/buffer_memory.h"
#include "model/memory_report.h"
#include "model/named_places.h"
#include "model/output_form.h"
#include "model/predictor_state.h"
#include "model/step_graph.h"
#include "runtime/block_runs.h"

namespace linnet {
namespace {

/// An idle program, this call's alone; one more is prepared where none is idle.
class Use {
 public:
  Use(PredictorState& state, std::int64_t batch, DType dtype) : state_(state) {
    const std::lock_guard lock(state.mutex);
    prepared_ = &state.sized(batch, dtype);
    if (prepared_->idle.empty()) {
      prepared_->idle.reserve(prepared_->all.size() + 1);
      prepared_->all.push_back(
          std::make_unique<PreparedBatch>(state.model, batch, dtype, state.form, state.in_blocks));
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

/// "(N, 28, 28, 1)"
std::string batches_of(const Shape& sample) {
  return "(N" + to_string(sample.batched(1)).substr(2);
}

// Texts of errors are made where they are needed alone: require() would make them in every call.

/// " 'b'", the place's name where there are several.
std::string name_among(const auto& named, std::size_t place) {
  return named.size() > 1 ? fmt::format(" '{}'", named[place].name) : std::string();
}

/// The first input takes bytes for floats; all inputs of a model of fp64 take f64, too.
void require_samples(const NetworkDefinition& network, std::size_t place, DType dtype) {
  const NetworkInput& input = network.inputs[place];
  const bool bytes = place == 0 && input.dtype == DType::f32;
  if (dtype == input.dtype || dtype == network.held(input.dtype) || (bytes && dtype == DType::u8)) {
    return;
  }
  fail("expected samples{} in {}; got {}", name_among(network.inputs, place),
       bytes ? "f32 or u8" : to_string(input.dtype), to_string(dtype));
}

/// Returns N of samples (N, ...) of the network's input.
std::int64_t batch_of(const NetworkDefinition& network, std::size_t place, const Tensor& samples) {
  require_samples(network, place, samples.dtype());
  const NetworkInput& input = network.inputs[place];
  const Shape& shape = samples.shape();
  if (shape.rank() == input.sample.rank() + 1 && shape.sample() == input.sample) return shape[0];
  if (shape == input.sample) {
    fail("expected a batch of samples{} {}; got one sample {}, whose batch is {}",
         name_among(network.inputs, place), batches_of(input.sample), to_string(shape),
         to_string(input.sample.batched(1)));
  }
  fail("expected samples{} of {}, as a batch {}; got {}", name_among(network.inputs, place),
       to_string(input.sample), batches_of(input.sample), to_string(shape));
}

void require_host(const Tensor& tensor, const char* what) {
  if (tensor.device().kind == Device::Kind::cpu) return;
  fail("predict() expects {} in host memory; got {} in the memory of {}, which run() takes", what,
       to_string(tensor.shape()), to_string(tensor.device()));
}

/// Returns the memory that `count` samples' output is written to.
std::span<std::byte> output_bytes(const NetworkDefinition& network, std::size_t place,
                                  std::int64_t count, Tensor outputs) {
  require_host(outputs, "outputs");
  const Shape wanted = network.output_sample(place).batched(count);
  if (outputs.dtype() != network.numbers || outputs.shape() != wanted) {
    fail("{} samples of {} need memory for outputs{} of {} {}; got {} {}", count,
         to_string(network.inputs[0].sample), name_among(network.outputs, place),
         to_string(network.numbers), to_string(wanted), to_string(outputs.dtype()),
         to_string(outputs.shape()));
  }
  return outputs.writable_bytes();
}

/// All inputs in the network's order, and how many samples they are.
struct NamedInputs {
  std::int64_t count = 0;
  std::vector<std::span<const std::byte>> memory = {};
  std::vector<Tensor> converted = {};  ///< which `memory` refers to
};

NamedInputs named_inputs(const NetworkDefinition& network, const State& inputs) {
  for (const State::Entry& entry : inputs) place_of(network.inputs, entry.name, "input");
  NamedInputs result;
  for (const NetworkInput& input : network.inputs) {
    const Tensor* samples = inputs.find(input.name);
    require(samples != nullptr, "the network has inputs {}; '{}' is missing",
            names_of(network.inputs), input.name);
    require_host(*samples, "samples");
    const std::size_t place = result.memory.size();
    const std::int64_t count = batch_of(network, place, *samples);
    require(place == 0 || count == result.count, "'{}' has {} samples, '{}' has {}",
            network.inputs[0].name, result.count, input.name, count);
    if (const std::optional<std::size_t> sequences = network.sequences_of(place)) {
      check_lengths(samples->as<std::int32_t>(), input.name, 1,
                    network.inputs[*sequences].sample[0]);
    }
    result.count = count;
    const DType held = network.held(input.dtype);
    if (place > 0 && samples->dtype() != held) {
      result.memory.push_back(result.converted.emplace_back(samples->to(held)).bytes());
      continue;
    }
    result.memory.push_back(samples->bytes());
  }
  return result;
}

}  // namespace

void predict_batch(PredictorState& state, std::int64_t count, DType dtype,
                   std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs, std::uint64_t first) {
  check_ids(state.model.definition(), state.model.id_limits, inputs, first);
  if (state.model.backend->capabilities().host_memory) {
    return Use(state, count, dtype)->run(inputs, outputs, first);
  }
  const std::lock_guard lock(state.mutex);
  PreparedBatch& batch = state.at(count, dtype);
  const Backend& backend = *state.model.backend;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    backend.upload(*batch.input(i), 0, inputs[i]);
  }
  batch.run({}, {}, first);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].empty()) backend.download(*batch.output(i), 0, outputs[i]);
  }
}

PreparedBatch::PreparedBatch(ModelState& model, std::int64_t batch, DType dtype, OutputForm form,
                             bool in_blocks)
    : model_(model), batch_(batch), inputs_(model.definition().inputs.size()) {
  const NetworkDefinition& network = model.definition();
  for (const NetworkInput& input : network.inputs) {
    const DType type = ports_.empty() ? dtype : network.held(input.dtype);
    ports_.push_back({.bytes = ValueType{type, input.sample.batched(batch)}.bytes()});
  }
  for (std::size_t i = 0; i < network.outputs.size(); ++i) {
    ports_.push_back(
        {.bytes = ValueType{network.numbers, network.output_sample(i).batched(batch)}.bytes()});
  }
  const std::function<Graph(std::int64_t)> graph_of = [&](std::int64_t n) {
    return prediction_step(network, dtype, n, form, supports_of(*model.backend));
  };
  made_ = in_memory(fmt::format("the program that predicts {} samples at once", batch),
                    [&] { return prepare_prediction(*model.backend, batch, in_blocks, graph_of); });
  memory_.buffers[static_cast<std::size_t>(Storage::parameter)] = model.parameters;
  memory_.buffers[static_cast<std::size_t>(Storage::state)] = model.statistics;
  memory_.buffers[static_cast<std::size_t>(Storage::arena)] = arena(graph_of);
  made_.program->attach(memory_);
  if (made_.rest != nullptr) made_.rest->attach(memory_);  // it runs after the blocks
  if (made_.block < batch_) attach_lanes(graph_of);
}

/// Returns memory for what lies between operators.
std::shared_ptr<Buffer> PreparedBatch::arena(
    const std::function<Graph(std::int64_t)>& graph_of) const {
  const std::size_t bytes = made_.arena_bytes();
  try {
    return model_.backend->allocate(bytes);
  } catch (const OutOfMemory& error) {
    const std::string why =
        made_.block < batch_
            ? fmt::format(
                  "a batch of {} is predicted in blocks of {}, of which {} run at the same "
                  "time with {} each",
                  batch_, made_.block, made_.lanes, mebibytes(bytes))
            : does_not_fit(made_.program->plan(), bytes, error.free, batch_, graph_of);
    throw OutOfMemory(fmt::format("{}: {}", error.what(), why), bytes, error.free);
  }
}

void PreparedBatch::attach_lanes(const std::function<Graph(std::int64_t)>& graph_of) {
  for (const Port& port : ports_) {
    strides_.push_back(port.bytes / static_cast<std::size_t>(batch_) *
                       static_cast<std::size_t>(made_.block));
  }
  lanes_.assign(made_.lanes, memory_);
  for (std::size_t lane = 1; lane < lanes_.size(); ++lane) {
    lanes_[lane].buffers[static_cast<std::size_t>(Storage::arena)] = arena(graph_of);
  }
  made_.program->blocks()->attach_lanes(lanes_);
}

PreparedBatch::~PreparedBatch() {
  try {
    set_input({});
  } catch (const Error&) {
    // A device that failed reads nothing any more.
  }
}

const std::shared_ptr<Buffer>& PreparedBatch::memory_of(std::size_t port) {
  Port& p = ports_[port];
  if (p.memory == nullptr) p.memory = model_.backend->allocate(p.bytes);
  return p.memory;
}

void PreparedBatch::set_input(Tensor samples) {
  if (other_input_.owns_memory()) wait_for(model_);  // enqueued runs may read what is given up here
  Buffer* own = ports_[0].memory.get();
  const bool is_own = own != nullptr && samples.bytes().data() == own->data();
  other_input_ = is_own ? Tensor() : std::move(samples);
}

void PreparedBatch::bind(std::size_t port, const std::byte* address) {
  made_.program->bind(port, address);
  if (made_.rest == nullptr) return;
  const auto blocks = static_cast<std::size_t>(batch_ / made_.block);
  made_.rest->bind(port, address + blocks * strides_[port]);
}

std::span<const std::byte> PreparedBatch::first_input() {
  if (!other_input_.bytes().empty()) return other_input_.bytes();
  return {memory_of(0)->data(), ports_[0].bytes};
}

void PreparedBatch::run() {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    bind(i, i == 0 ? first_input().data() : memory_of(i)->data());
  }
  run_bound(0);
}

void PreparedBatch::run(std::span<const std::span<const std::byte>> inputs,
                        std::span<const std::span<std::byte>> outputs, std::uint64_t first) {
  for (std::size_t i = 0; i < inputs_; ++i) {
    bind(i, i < inputs.size() ? inputs[i].data() : memory_of(i)->data());
  }
  for (std::size_t i = 0; inputs_ + i < ports_.size(); ++i) {
    const bool given = i < outputs.size() && !outputs[i].empty();
    bind(inputs_ + i, given ? outputs[i].data() : memory_of(inputs_ + i)->data());
  }
  run_bound(first);
}

void PreparedBatch::run_bound(std::uint64_t first) {
  if (model_.weights_shared || weights_version_ != model_.weights_version) {
    made_.program->weights_changed();
    if (made_.rest != nullptr) made_.rest->weights_changed();
    weights_version_ = model_.weights_version;
  }
  if (lanes_.empty()) return made_.program->run(step(first));
  const std::int64_t blocks = batch_ / made_.block;
  made_.program->blocks()->run_blocks(step(first), static_cast<std::uint64_t>(made_.block),
                                      static_cast<std::size_t>(blocks), strides_);
  if (made_.rest == nullptr) return;
  const std::int64_t done = blocks * made_.block;
  StepInfo last = step(first + static_cast<std::uint64_t>(done));
  last.samples = static_cast<std::uint64_t>(batch_ - done);
  made_.rest->run(last);
}

std::size_t PreparedBatch::bytes() const {
  std::size_t bytes = held_bytes(*made_.program);
  if (made_.rest != nullptr) bytes += held_bytes(*made_.rest);
  bytes += made_.lanes * made_.arena_bytes();
  for (const Port& port : ports_) bytes += port.memory != nullptr ? port.memory->bytes() : 0;
  return bytes;
}

StepInfo PreparedBatch::step(std::uint64_t first) const {
  const auto records = static_cast<std::uint64_t>(made_.block);
  return {.first_row = first, .samples = records};
}

PredictorState::Prepared& PredictorState::sized(std::int64_t batch, DType dtype) {
  require(batch >= 1, "expected a batch of at least 1; got {}", batch);
  require_samples(model.definition(), 0, dtype);
  if (const auto found = prepared.find({batch, dtype}); found != prepared.end()) {
    found->second.last_use = ++uses;
    return found->second;
  }
  auto first = std::make_unique<PreparedBatch>(model, batch, dtype, form, in_blocks);
  Prepared& made = prepared[{batch, dtype}];
  made.idle.push_back(first.get());
  made.all.push_back(std::move(first));
  made.last_use = ++uses;
  return made;
}

void PredictorState::keep(std::size_t bytes) {
  const std::lock_guard lock(mutex);
  const auto bytes_of = [](const auto& entry) {
    std::size_t sum = 0;
    for (const auto& batch : entry.second.all) sum += batch->bytes();
    return sum;
  };
  std::size_t held = 0;
  for (const auto& entry : prepared) held += bytes_of(entry);
  while (held > bytes && prepared.size() > 2) {
    const auto oldest = std::ranges::min_element(prepared, {}, [](const auto& entry) {
      return entry.second.last_use;
    });
    held -= bytes_of(*oldest);
    prepared.erase(oldest);
  }
}

PredictorState& predictor_of(ModelState& model, OutputForm form) {
  for (const auto& predictor : model.predictors) {
    if (predictor->form == form) return *predictor;
  }
  model.predictors.push_back(
      std::shared_ptr<PredictorState>(new PredictorState{.model = model, .form = form}));
  return *model.predictors.back();
}

void wait_for(const ModelState& model) {
  std::byte last{};
  model.backend->download(*model.statistics, model.counters_offset(), {&last, 1});
}

Predictor::Predictor(const Model& model, const PredictorOptions& options)
    : state_(new PredictorState{.model = *model.shared_state(),
                                .form = options.probabilities ? probability_form(model.state())
                                                              : OutputForm::plain,
                                .owner = model.shared_state()}) {
  for (const std::int64_t batch : options.batches) state_->sized(batch, options.dtype);
}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Shape Predictor::input_shape() const { return state_->model.definition().inputs[0].sample; }
Shape Predictor::output_shape() const { return state_->model.definition().output_sample(); }

void Predictor::predict(const Tensor& samples, Tensor outputs) const {
  const NetworkDefinition& network = state_->model.definition();
  static_cast<void>(network.only_input());  // throws for several
  const std::int64_t count = batch_of(network, 0, samples);
  require_host(samples, "samples");
  const std::span<std::byte> to = output_bytes(network, 0, count, std::move(outputs));
  if (count == 0) return;
  predict_batch(*state_, count, samples.dtype(), std::array{samples.bytes()}, std::array{to});
}

Tensor Predictor::predict(const Tensor& samples) const {
  const NetworkDefinition& network = state_->model.definition();
  static_cast<void>(network.only_input());
  Tensor outputs(network.numbers, output_shape().batched(batch_of(network, 0, samples)));
  predict(samples, outputs);
  return outputs;
}

void Predictor::predict(const State& inputs, const State& outputs) const {
  const NetworkDefinition& network = state_->model.definition();
  const NamedInputs from = named_inputs(network, inputs);
  std::vector<std::span<std::byte>> to(network.outputs.size());
  for (const auto& [name, tensor] : outputs) {
    const std::size_t place = place_of(network.outputs, name, "output");
    to[place] = output_bytes(network, place, from.count, tensor);
  }
  if (from.count == 0) return;
  const DType dtype = inputs[network.inputs[0].name].dtype();
  predict_batch(*state_, from.count, dtype, from.memory, to);
}

State Predictor::predict(const State& inputs) const {
  const NetworkDefinition& network = state_->model.definition();
  const std::int64_t count = named_inputs(network, inputs).count;
  State outputs;
  for (std::size_t i = 0; i < network.outputs.size(); ++i) {
    outputs.set(network.outputs[i].name,
                Tensor(network.numbers, network.output_sample(i).batched(count)));
  }
  predict(inputs, outputs);
  return outputs;
}

Tensor Predictor::input(std::int64_t batch, DType dtype) {
  return tensor_over(state_->model, state_->at(batch, dtype).input(), 0, dtype,
                     input_shape().batched(batch));
}

Tensor Predictor::output(std::int64_t batch, DType dtype) {
  return tensor_over(state_->model, state_->at(batch, dtype).output(), 0,
                     state_->model.definition().numbers, output_shape().batched(batch));
}

void Predictor::set_input(const Tensor& samples) {
  const Device here = device_of(state_->model);
  require(samples.device() == here,
          "expected samples in the memory of {}, as the model; got a tensor in the memory of {}",
          to_string(here), to_string(samples.device()));
  const std::int64_t count = batch_of(state_->model.definition(), 0, samples);
  state_->at(count, samples.dtype()).set_input(samples);
}

void Predictor::run(std::int64_t batch, DType dtype) {
  PreparedBatch& prepared = state_->at(batch, dtype);
  const ModelState& model = state_->model;
  if (!model.id_limits.empty() && model.backend->capabilities().host_memory) {
    check_ids(model.definition(), model.id_limits, std::array{prepared.first_input()}, 0);
  }
  prepared.run();
}
void Predictor::wait() const { wait_for(state_->model); }

}  // namespace linnet
