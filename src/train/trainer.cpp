// SPDX-License-Identifier: Apache-2.0
#include <linnet/trainer.h>

#include <atomic>

#include "base/check.h"
#include "core/align.h"
#include "train/recipes.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

constexpr std::string_view kModel = "model/";

/// Keys of programs that no other trainer asks for.
std::string unique_key() {
  static std::atomic<std::uint64_t> made{0};
  return fmt::format("trainer {} ", ++made);
}

Tensor counter(std::uint64_t value) {
  return Tensor(std::vector<std::int64_t>{static_cast<std::int64_t>(value)}, Shape{});
}

std::uint64_t counted(const State& state, std::string_view name) {
  const Tensor& value = state[name];
  require(value.dtype() == DType::i64 && value.elements() == 1 && value.item<std::int64_t>() >= 0,
          "expected a count as '{}'; got {}", name, to_string(value));
  return static_cast<std::uint64_t>(value.item<std::int64_t>());
}

std::string moment_name(int moment, const std::string& parameter) {
  return fmt::format("optimizer/moment{}/{}", moment + 1, parameter);
}

/// Where a parameter's moment lies among the moments.
std::size_t moment_offset(const NetworkDefinition& network, int moment, const ParameterSpec& spec) {
  return static_cast<std::size_t>(moment) * align_up(network.bytes(true)) + spec.offset;
}

/// Calls f(name, spec, offset) for every moment of the objective's optimizer.
template <class F>
void for_moments(const ObjectiveState& objective, const F& f) {
  const NetworkDefinition& network = objective.network();
  const int count = moments(objective.optimizer(1, 1).settings.rule);
  for (int m = 0; m < count; ++m) {
    for (const ParameterSpec& spec : network.parameters) {
      if (spec.trainable) f(moment_name(m, spec.name), spec, moment_offset(network, m, spec));
    }
  }
}

/// Of a state that is to be loaded, what the trainer has; names and shapes must agree.
void check_state(const State& now, const State& loaded) {
  for (const auto& [name, value] : now) {
    const Tensor* other = loaded.find(name);
    require(other != nullptr, "the state has no '{}'", name);
    require(other->dtype() == value.dtype() && other->shape() == value.shape(),
            "the state has {} {} as '{}'; expected {} {}", to_string(other->dtype()),
            to_string(other->shape()), name, to_string(value.dtype()), to_string(value.shape()));
  }
  for (const auto& [name, value] : loaded) {
    require(now.find(name) != nullptr, "the state has '{}', which this training does not know",
            name);
  }
}

}  // namespace

ObjectiveState::ObjectiveState(std::shared_ptr<ModelState> trained, Objective aim)
    : model(std::move(trained)),
      objective(std::move(aim)),
      schedule(objective.schedule),
      key(unique_key()) {
  static_cast<void>(optimizer(1, 1));  // which checks its numbers
}

ObjectiveState::~ObjectiveState() { model->programs->forget(key); }

TrainingOptions ObjectiveState::losses(const Augment& augment) const {
  return {.loss = objective.loss,
          .loss_options = objective.loss_options,
          .custom_loss = objective.custom_loss,
          .output_losses = objective.output_losses,
          .augment = augment};
}

StepData ObjectiveState::read(const Dataset& data, const Augment& augment) const {
  return step_data(network(), data, losses(augment));
}

OptimizerAttrs ObjectiveState::optimizer(std::int64_t length, std::int64_t steps_of_epoch) const {
  OptimizerAttrs attrs = resolve(UpdateOptions{.optimizer = objective.optimizer,
                                               .schedule = objective.schedule,
                                               .warmup = objective.warmup,
                                               .clip = objective.clip},
                                 length, steps_of_epoch);
  add_groups(attrs, network(), objective.trains);
  return attrs;
}

Buffer& ObjectiveState::moments() {
  if (memory->moments == nullptr) {
    const auto count = static_cast<std::size_t>(linnet::moments(optimizer(1, 1).settings.rule));
    memory->moments = model->backend->allocate(count * align_up(network().bytes(true)));
  }
  return *memory->moments;
}

TrainerState::TrainerState(Model trained, Objective aim, TrainerOptions how)
    : model(std::move(trained)), options(std::move(how)) {
  objectives.push_back(std::make_unique<ObjectiveState>(model.shared_state(), std::move(aim)));
}

Trainer::Trainer(Model model, Objective objective, TrainerOptions options)
    : state_(std::make_shared<TrainerState>(std::move(model), std::move(objective),
                                            std::move(options))) {}

History Trainer::fit(const Dataset& data, const FitOptions& options) {
  return linnet::fit(*state_, data, options);
}

const Model& Trainer::model() const { return state_->model; }
Model& Trainer::model() { return state_->model; }
std::uint64_t Trainer::steps() const { return state_->steps; }
std::int64_t Trainer::epochs() const { return state_->epochs; }

Model Trainer::best() const {
  require(state_->best.has_value(), "no epoch's weights were kept; see FitOptions::keep_best");
  Model best = state_->model.copy();
  best.set_weights(*state_->best);
  return best;
}

State Trainer::state() const {
  TrainerState& trainer = *state_;
  ObjectiveState& objective = trainer.only();
  State state;
  for (const auto& [name, value] : trainer.model.weights()) {
    state.set(std::string(kModel) + name, value);
  }
  const Backend& backend = *trainer.state().backend;
  for_moments(objective, [&](std::string name, const ParameterSpec& spec, std::size_t offset) {
    Tensor values(DType::f32, spec.shape);
    backend.download(objective.moments(), offset, values.writable_bytes());
    state.set(std::move(name), std::move(values));
  });
  state.set("position/epochs", counter(static_cast<std::uint64_t>(trainer.epochs)));
  state.set("position/steps", counter(trainer.steps));
  objective.schedule.save(state);
  return state;
}

void Trainer::load_state(const State& state) {
  TrainerState& trainer = *state_;
  ObjectiveState& objective = trainer.only();
  check_state(this->state(), state);
  const std::uint64_t epochs = counted(state, "position/epochs");
  const std::uint64_t steps = counted(state, "position/steps");
  objective.schedule.load(state);  // which throws before it changes anything
  trainer.model.set_weights(state.part(kModel));
  const Backend& backend = *trainer.state().backend;
  for_moments(objective, [&](const std::string& name, const ParameterSpec&, std::size_t offset) {
    backend.upload(objective.moments(), offset, state[name].to_host().bytes());
  });
  trainer.epochs = static_cast<std::int64_t>(epochs);
  trainer.steps = objective.updates = steps;
}

}  // namespace linnet
