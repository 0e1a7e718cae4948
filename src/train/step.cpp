// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/check.h"
#include "core/align.h"
#include "model/check_values.h"
#include "train/recipes.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

/// Samples of an epoch in batches of this size.
std::int64_t epoch_samples(const Dataset& data, const BatchOptions& options) {
  const std::int64_t samples = data.size();
  return options.drop_last ? samples - samples % options.size : samples;
}

/// What a step on this batch is told, but for the samples' place in a ring.
StepInfo step_info(const TrainerState& trainer, const ObjectiveState& objective,
                   const Batch& batch) {
  const auto records = static_cast<std::uint64_t>(batch.data().size());
  return {.seed = trainer.options.seed,
          .step = trainer.steps,
          .update = objective.updates,
          .epoch = static_cast<std::uint64_t>(batch.epoch()),
          .position = static_cast<std::uint64_t>(batch.position()),
          .records = records,
          .samples = records,
          .rate_factor = objective.schedule.factor(objective.updates)};
}

}  // namespace

BatchRange::BatchRange(Dataset data, const BatchOptions& options, std::int64_t epoch)
    : data_(std::move(data)), options_(options), epoch_(epoch) {
  require(options.size >= 1, "expected a batch of at least 1; got {}", options.size);
  require(data_.size() > 0, "the data set '{}' holds no samples", data_.info().name);
  end_ = epoch_samples(data_, options);
  require(end_ > 0, "drop_last leaves nothing of {} training samples at batch {}", data_.size(),
          options.size);
}

Batch BatchRange::Iterator::operator*() const {
  const std::int64_t size = std::min(range_->options_.size, range_->end_ - position_);
  return {range_->data_, range_->options_, range_->epoch_, position_, size};
}

BatchRange::Iterator& BatchRange::Iterator::operator++() {
  position_ = std::min(position_ + range_->options_.size, range_->end_);
  return *this;
}

BatchRange Trainer::batches(const Dataset& data, const BatchOptions& options) const {
  return {data, options, state_->epochs + 1};
}

Stepper::Stepper(const TrainerState& trainer, ObjectiveState& objective, const Batch& batch,
                 bool update)
    : trainer_(trainer),
      objective_(objective),
      data_(batch.data_),
      options_(batch.options_),
      read_(objective.read(data_)),
      session_(*objective.model) {
  if (update) require_own_length(objective.objective.schedule);
  const NetworkDefinition& network = trainer.network();
  const std::int64_t samples = epoch_samples(data_, options_);
  check_training_values(read_.run_of(network), data_);
  check_counted_labels(read_, data_, "training");
  if (read_.has_source()) stream_ = session_.stream(read_, options_.size, FitOptions{}.prefetch);
  const std::int64_t steps = (samples + options_.size - 1) / options_.size;
  const OptimizerAttrs optimizer = objective.optimizer(trainer.epochs + 1, steps);
  objective.schedule.set_steps(optimizer.settings.warmup_steps, steps);
  trains_ = trained_parameters(network, optimizer);
  if (samples % options_.size == 1 || options_.size == 1) {
    check_batch_norms(read_.run_of(network), samples, options_.size, trains_);
  }
  const TrainingStep step{.shuffle = options_.shuffle && stream_ == nullptr,
                          .optimizer = optimizer,
                          .disabled_passes = trainer.options.disabled_passes};
  const ModelState& model = *objective.model;
  if (update) {
    memory_ = objective.memory;
  } else {
    memory_ = objective.gradients;
    if (memory_->statistics == nullptr) {
      memory_->statistics = model.backend->allocate(model.statistics->bytes());
    }
  }
  const auto recipe = update ? training_recipe : gradient_recipe;
  sweep_ = session_.add_sweep(samples, options_.size,
                              recipe(objective.key, model, read_, step, memory_));
  session_.attach();
  if (stream_ == nullptr) {
    session_.bind_data(sweep_, read_);
  } else {
    session_.feed(sweep_, read_, *stream_, options_.shuffle);
  }
}

bool Stepper::takes(const Batch& batch) const {
  return batch.data_.same_as(data_) && batch.options_ == options_;
}

bool Stepper::ends_epoch(const Batch& batch) const {
  return batch.position_ + batch.size_ == epoch_samples(data_, options_);
}

void Stepper::run(const Batch& batch) {
  session_.attach();  // the arena may have grown since
  const StepInfo info = step_info(trainer_, objective_, batch);
  sweep_.run_one(info, static_cast<std::uint64_t>(batch.size()));
}

void Stepper::copy_statistics() {
  ModelState& model = *objective_.model;
  std::vector<std::byte> bytes(model.statistics->bytes());
  model.backend->download(*model.statistics, 0, bytes);
  model.backend->upload(*memory_->statistics, 0, bytes);
}

double Stepper::loss() const {
  const ModelState& model = *objective_.model;
  std::array<double, kCounters> counters{};
  model.backend->download(*memory_->statistics, model.counters_offset(),
                          std::as_writable_bytes(std::span(counters)));
  return counters[static_cast<std::size_t>(Counter::last_loss)];
}

namespace {

/// The stepper, a new one where the last one was another data set's.
Stepper& stepper_for(std::unique_ptr<Stepper>& kept, const TrainerState& trainer,
                     ObjectiveState& objective, const Batch& batch, bool update) {
  if (kept == nullptr || !kept->takes(batch)) {
    kept = nullptr;
    kept = std::make_unique<Stepper>(trainer, objective, batch, update);
  }
  return *kept;
}

/// Returns the step's number.
std::uint64_t step_of(TrainerState& trainer, ObjectiveState& objective, const Batch& batch) {
  Stepper& stepper = stepper_for(objective.stepper, trainer, objective, batch, true);
  stepper.run(batch);
  if (stepper.ends_epoch(batch)) trainer.epochs = std::max(trainer.epochs, batch.epoch());
  ++objective.updates;
  return trainer.steps++;
}

State gradients_of(const TrainerState& trainer, ObjectiveState& objective, const Batch& batch) {
  Stepper& differentiator = stepper_for(objective.differentiator, trainer, objective, batch, false);
  differentiator.copy_statistics();
  differentiator.run(batch);
  State gradients;
  const std::vector<ParameterSpec>& parameters = trainer.network().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ParameterSpec& spec = parameters[i];
    if (!differentiator.trains(i)) continue;
    Tensor values(DType::f32, spec.shape);
    trainer.state().backend->download(differentiator.gradients(), spec.offset,
                                      values.writable_bytes());
    gradients.set(spec.name, std::move(values));
  }
  return gradients;
}

}  // namespace

StepResult Trainer::step(const Batch& batch) {
  ObjectiveState& objective = state_->only("step(NAME, batch) is a step of one of them");
  return {state_, step_of(*state_, objective, batch)};
}

StepResult Trainer::step(std::string_view objective, const Batch& batch) {
  return {state_, step_of(*state_, state_->named(objective), batch)};
}

State Trainer::gradients(const Batch& batch) {
  return gradients_of(*state_, state_->only("gradients(NAME, batch) computes those of one of them"),
                      batch);
}

State Trainer::gradients(std::string_view objective, const Batch& batch) {
  return gradients_of(*state_, state_->named(objective), batch);
}

float StepResult::loss() const {
  const std::shared_ptr<TrainerState> trainer = trainer_.lock();
  require(trainer != nullptr, "the trainer of this step is gone");
  require(step_ < trainer->steps && trainer->steps - step_ <= kLossHistory,
          "the loss of step {} is no longer kept: {} steps were done since", step_,
          trainer->steps - step_);
  return step_losses(trainer->state(), step_, step_ + 1).front();
}

}  // namespace linnet
