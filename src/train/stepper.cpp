// SPDX-License-Identifier: Apache-2.0
#include "train/stepper.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/finite.h"
#include "model/check_values.h"
#include "train/epoch_updates.h"
#include "train/recipes.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

/// Returns what a step on this batch is told, but for the samples' place in a ring.
ShardRows rows_of(const TrainerState& trainer, const ObjectiveState& objective, const Batch& batch,
                  std::int64_t schedule_step) {
  ShardRows rows;
  rows.rows = static_cast<std::uint64_t>(batch.size());
  rows.step = {.seed = trainer.options.seed,
               .step = trainer.steps,
               .update = objective.updates,
               .schedule_lead = schedule_step - static_cast<std::int64_t>(objective.updates),
               .epoch = static_cast<std::uint64_t>(batch.epoch()),
               .position = static_cast<std::uint64_t>(batch.position()),
               .samples = static_cast<std::uint64_t>(batch.data().size())};
  return rows;
}

}  // namespace

std::int64_t epoch_samples(const Dataset& data, const BatchOptions& options) {
  const std::int64_t samples = data.size();
  return options.drop_last ? samples - samples % options.size : samples;
}

Stepper::Stepper(TrainerState& trainer, ObjectiveState& objective, const Batch& batch,
                 std::int64_t batches)
    : trainer_(trainer),
      objective_(objective),
      data_(batch.data_),
      options_(batch.options_),
      most_batches_(batches),
      shards_(own_shards(options_.shards, trainer.options.ranks)),
      read_(objective.read(data_)),
      session_(*objective.model),
      done_(kRemembered) {
  const NetworkDefinition& network = trainer.network();
  const std::int64_t samples = epoch_samples(data_, options_);
  check_training_values(read_.run_of(network), data_);
  check_counted_labels(read_, data_, "training");
  if (read_.has_source()) {
    const std::uint64_t shard = shards_.largest(static_cast<std::uint64_t>(options_.size));
    stream_ = session_.stream(read_, static_cast<std::int64_t>(shard),
                              slots_of(FitOptions{}.prefetch, lanes()));
  }
  steps_per_epoch_ = updates_of(updates_of(samples, options_.size), batches);
  step_ = {.shuffle = options_.shuffle && stream_ == nullptr,
           .optimizer = objective.optimizer(trainer.epochs + 1, steps_per_epoch_, read_),
           .average = objective.average(),
           .lookahead = objective.lookahead(),
           .moments = objective.moments,
           .disabled_passes = trainer.options.disabled_passes,
           .recompute = trainer.options.recompute,
           .overlap_sums = overlaps_sums(*objective.model, shards_, trainer.options),
           .bucket_bytes = trainer.options.bucket_bytes,
           .sync_norms =
               syncs_norms(*objective.model, shards_, trainer.options, samples, options_.size)};
  trains_ = trained_parameters(network, step_.optimizer);
  check_batch_norms(read_.run_of(network), samples, options_.size,
                    static_cast<std::int64_t>(shards_.count), trains_);
}

bool Stepper::takes(const Batch& batch, std::int64_t batches) const {
  return batch.data_.same_as(data_) && batch.options_ == options_ && batches <= most_batches_;
}

bool Stepper::ends_epoch(const Batch& batch) const {
  return batch.position_ + batch.size_ == epoch_samples(data_, options_);
}

std::int64_t Stepper::schedule_step(const Batch& batch) const {
  return (batch.epoch() - 1) * steps_per_epoch_ + batch.position() / options_.size / most_batches_;
}

DataPass Stepper::pass_of(const ProgramRecipe& recipe, const Shards& shards) {
  DataPass pass = session_.add_pass(epoch_samples(data_, options_), options_.size, recipe, shards,
                                    shards.count > 1 && lanes() > 1);
  session_.attach();
  if (stream_ == nullptr) {
    session_.bind_data(pass, read_);
  } else {
    session_.feed(pass, read_, *stream_, options_.shuffle);
  }
  return pass;
}

DataPass& Stepper::train() {
  if (train_ == nullptr) {
    require_own_length(objective_.objective.schedule);
    record();
    train_ = std::make_unique<DataPass>(
        pass_of(training_recipe(objective_.key, *objective_.model, read_, step_, objective_.memory),
                {}));
  }
  return *train_;
}

DataPass& Stepper::shard() {
  if (shard_ == nullptr) {
    ProgramRecipe recipe =
        shard_recipe(objective_.key, *objective_.model, read_, step_, objective_.memory);
    const auto batches = static_cast<std::uint64_t>(most_batches_);
    recipe.apart = shards_apart(*objective_.model, lanes(), std::max(shards_.own(), batches));
    shard_ = std::make_unique<DataPass>(pass_of(recipe, shards_));
  }
  return *shard_;
}

std::size_t Stepper::lanes() const {
  return lanes_of(*objective_.model, shards_, trainer_.options);
}

ShardedSteps& Stepper::tree(std::uint64_t shards) {
  if (shards > most_shards_) {
    tree_ = std::make_unique<ShardedSteps>(session_, *objective_.model, objective_.key, read_,
                                           step_, objective_.memory, shards, lanes(),
                                           options_.shuffle, trainer_.options.ranks);
    most_shards_ = shards;
  }
  return *tree_;
}

std::vector<ShardRows> Stepper::shards_in(std::span<const ShardRows> batches) const {
  if (batches.size() == 1) return shards_of(batches[0], shards_);
  return {batches.begin(), batches.end()};
}

void Stepper::record() {
  if (read_.targets.front().output == 0) record_training(trainer_.model, data_, read_);
}

void Stepper::step(std::span<const Batch> batches) {
  require(batches.size() == 1 || shards_.count == 1,
          "expected a step over one batch of {} shards; got {} batches, each of which would be a "
          "shard",
          shards_.count, batches.size());
  batches_.clear();
  HostSchedule& schedule = objective_.schedule;
  schedule.set_steps(step_.optimizer.settings.warmup_steps, steps_per_epoch_);
  const std::int64_t place = schedule_step(batches.front());
  for (const Batch& batch : batches) {
    batches_.push_back(rows_of(trainer_, objective_, batch, place));
  }
  const double rate_factor = schedule.factor(batches_.front().step);
  for (ShardRows& rows : batches_) rows.step.rate_factor = rate_factor;
  const std::vector<ShardRows> shards = shards_in(batches_);
  if (shards.size() == 1) {
    const DataPass& pass = train();
    session_.attach();  // the arena may have grown since
    ProgramQueue queue;
    pass.add_shards(queue, shards);
    queue.run();
  } else {
    if (most_shards_ == 0) {
      require_own_length(objective_.objective.schedule);
      record();
    }
    const DataPass& pass = shard();
    ShardedSteps& tree = this->tree(shards.size());
    session_.attach();
    tree.run(shards, [&](ProgramQueue& queue, std::size_t, std::span<const ShardRows> of) {
      pass.add_shards(queue, of);
    });
    tree.finish_queue();
  }
  Done& done = done_[trainer_.steps % kRemembered];
  done.step = trainer_.steps;
  done.batches.assign(batches_.begin(), batches_.end());
}

State Stepper::gradients(const Batch& batch) {
  const DataPass& pass = shard();
  const ShardRows rows = rows_of(trainer_, objective_, batch, schedule_step(batch));
  const std::vector<ShardRows> shards = shards_in(std::span(&rows, 1));
  const auto add = [&](ProgramQueue& queue, std::size_t, std::span<const ShardRows> of) {
    pass.add_shards(queue, of);
  };
  ShardedSteps* const tree = shards.size() > 1 ? &this->tree(shards.size()) : nullptr;
  session_.attach();
  const auto find = [&] {
    if (tree != nullptr) {
      tree->add_up(shards, add);
    } else {
      ProgramQueue queue;
      add(queue, 0, std::span(&rows, 1));
      queue.run();
    }
  };
  if (!scales_loss(*objective_.model)) {
    find();
    return found_gradients(1);
  }
  // Where gradients overflow, the scale is halved as steps do; the training's own stays.
  const float kept = objective_.loss_scale().as<float>().front();
  for (float scale = kept;; scale /= 2) {
    objective_.set_loss_scale(scale);
    find();
    State gradients = found_gradients(scale);
    const bool finite = std::ranges::all_of(gradients, [](const State::Entry& entry) {
      return all_finite(entry.value.as<float>());
    });
    if (finite || !std::isfinite(loss_) || scale <= kLeastLossScale) {
      objective_.set_loss_scale(kept);
      return gradients;
    }
  }
}

State Stepper::found_gradients(float scale) {
  const ModelState& model = *objective_.model;
  State gradients;
  const std::vector<ParameterSpec>& parameters = model.definition().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ParameterSpec& spec = parameters[i];
    if (!trains_[i]) continue;
    Tensor values(spec.dtype, spec.shape);
    model.backend->download(*objective_.memory->gradients, spec.offset, values.writable_bytes());
    if (scale != 1) {  // a power of two
      for (float& value : values.as_writable<float>()) value /= scale;
    }
    gradients.set(spec.name, std::move(values));
  }
  std::array<double, kCounters> counters{};
  const std::size_t place = ShardLayout(model.definition()).counters;
  model.backend->download(*objective_.memory->gradients, place,
                          std::as_writable_bytes(std::span(counters)));
  loss_ = counters[static_cast<std::size_t>(Counter::last_loss)];
  return gradients;
}

void Stepper::explain(NotFinite& found) {
  const Done& done = done_[found.step % kRemembered];
  if (done.batches.empty() || done.step != found.step) return;
  found.epoch = static_cast<std::int64_t>(done.batches[0].step.epoch);
  const std::vector<ShardRows> shards = shards_in(done.batches);
  if (shards.size() == 1) {
    const DataPass& pass = train();
    session_.attach();
    found.where = pass.first_not_finite(shards[0].step, shards[0].rows);
    return;
  }
  const DataPass& pass = shard();
  const ShardedSteps& tree = this->tree(shards.size());
  session_.attach();
  const std::vector<ShardRows> told = tree.told(shards);
  const bool own = trainer_.options.ranks.size() > 1;
  const std::size_t begin = own ? shards_.first : 0;
  const std::size_t end = own ? shards_.last : told.size();
  for (std::size_t i = begin; i < end; ++i) {
    const ShardRows& rows = told[i];
    if (rows.rows == 0) continue;
    found.where = pass.first_not_finite(rows.step, rows.rows);
    if (!found.where.empty()) return;
  }
}

std::uint64_t Stepper::steps_since(std::uint64_t step) const {
  return static_cast<std::uint64_t>(std::ranges::count_if(done_, [&](const Done& done) {
    return !done.batches.empty() && done.step >= step;
  }));
}

}  // namespace linnet
