// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/check.h"
#include "model/optimizers.h"
#include "model/options.h"
#include "ops/gather_batch/record_index.h"
#include "train/fit_checks.h"
#include "train/stepper.h"
#include "train/trainer_state.h"

namespace linnet {

Batch::operator Dataset() const {
  if (!options_.shuffle) return data_.rows(position_, position_ + size_);
  const auto records = static_cast<std::uint64_t>(data_.size());
  const RecordIndex index({.seed = seed_,
                           .epoch = static_cast<std::uint64_t>(epoch_),
                           .position = static_cast<std::uint64_t>(position_),
                           .samples = records},
                          true);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < size_; ++i) rows.push_back(static_cast<std::int64_t>(index(i)));
  return data_.take(rows);
}

BatchRange::BatchRange(Dataset data, const BatchOptions& options, std::uint64_t seed,
                       std::int64_t epoch)
    : data_(std::move(data)), options_(options), seed_(seed), epoch_(epoch) {
  description_of<BatchOptions>().check(&options, "");
  if (options.shards != 0) check_shards(options.shards);
  require(data_.size() > 0, "the data set '{}' holds no samples", data_.info().name);
  end_ = epoch_samples(data_, options);
  require(end_ > 0, "drop_last leaves out all of {} training samples at batch {}", data_.size(),
          options.size);
}

Batch BatchRange::Iterator::operator*() const {
  const std::int64_t size = std::min(range_->options_.size, range_->end_ - position_);
  return {range_->data_, range_->options_, range_->seed_, range_->epoch_, position_, size};
}

BatchRange::Iterator& BatchRange::Iterator::operator++() {
  position_ = std::min(position_ + range_->options_.size, range_->end_);
  return *this;
}

BatchRange Trainer::batches(const Dataset& data, const BatchOptions& options) const {
  return {data, options, state_->options.seed, state_->epochs + 1};
}

namespace {

/// Returns the stepper, a new one where the last one was another data set's.
Stepper& stepper_for(std::unique_ptr<Stepper>& kept, TrainerState& trainer,
                     ObjectiveState& objective, const Batch& batch, std::int64_t batches) {
  if (kept == nullptr || !kept->takes(batch, batches)) {
    if (kept != nullptr) trainer.check_finite();  // whose steps it remembers
    kept = nullptr;
    kept = std::make_unique<Stepper>(trainer, objective, batch, batches);
  }
  return *kept;
}

/// Returns the step's number.
std::uint64_t step_of(TrainerState& trainer, ObjectiveState& objective,
                      std::span<const Batch> batches) {
  const Turn turn(trainer, "step()");
  require(!batches.empty(), "expected at least one batch in a step");
  require(!is_least_squares(objective.objective.optimizer),
          "[levenberg_marquardt] takes all samples together; call fit() instead of step()");
  // Steps that are not looked at could no longer be repeated.
  if (trainer.steps % Stepper::kRemembered == 0) trainer.check_finite();
  Stepper& stepper =
      stepper_for(objective.stepper, trainer, objective, batches[0], std::ssize(batches));
  for (const Batch& batch : batches) {
    require(stepper.takes(batch, std::ssize(batches)),
            "expected batches of one data set and one size in a step");
  }
  for (std::size_t i = 1; i < batches.size(); ++i) {
    const Batch& before = batches[i - 1];
    require(batches[i].epoch() == before.epoch() && batches[i].position() > before.position(),
            "expected batches of one epoch, in its order, in a step; got sample {} of epoch {} "
            "after sample {} of epoch {}",
            batches[i].position(), batches[i].epoch(), before.position(), before.epoch());
  }
  stepper.step(batches);
  const Batch& last = batches.back();
  if (stepper.ends_epoch(last)) trainer.epochs = std::max(trainer.epochs, last.epoch());
  ++objective.updates;
  trainer.stopped_fit.reset();  // whose place this is no longer
  return trainer.steps++;
}

State gradients_of(TrainerState& trainer, ObjectiveState& objective, const Batch& batch) {
  return stepper_for(objective.differentiator, trainer, objective, batch, 1).gradients(batch);
}

}  // namespace

StepResult Trainer::step(const Batch& batch) { return step(std::span(&batch, 1)); }

StepResult Trainer::step(std::span<const Batch> batches) {
  // A schedule's function may destroy this Trainer.
  const std::shared_ptr<TrainerState> trainer = state_;
  ObjectiveState& objective = trainer->only("call step(NAME, batch) for one of them");
  const std::uint64_t step = step_of(*trainer, objective, batches);
  return {trainer, step, trainer->loads};
}

StepResult Trainer::step(std::string_view objective, const Batch& batch) {
  return step(objective, std::span(&batch, 1));
}

StepResult Trainer::step(std::string_view objective, std::span<const Batch> batches) {
  const std::shared_ptr<TrainerState> trainer = state_;
  const std::uint64_t step = step_of(*trainer, trainer->named(objective), batches);
  return {trainer, step, trainer->loads};
}

State Trainer::gradients(const Batch& batch) {
  return gradients_of(*state_, state_->only("call gradients(NAME, batch) for one of them"), batch);
}

State Trainer::gradients(std::string_view objective, const Batch& batch) {
  return gradients_of(*state_, state_->named(objective), batch);
}

float StepResult::loss() const {
  const std::shared_ptr<TrainerState> trainer = trainer_.lock();
  require(trainer != nullptr, "the trainer of this step no longer exists");
  require(loads_ == trainer->loads,
          "the loss of step {} is no longer kept: load_state() was called since", step_);
  require(step_ < trainer->steps && trainer->steps - step_ <= kLossHistory,
          "the loss of step {} is no longer kept: {} steps were done since", step_,
          trainer->steps - step_);
  trainer->check_finite();
  return step_losses(trainer->state(), *trainer->memory, step_, step_ + 1).front();
}

}  // namespace linnet
