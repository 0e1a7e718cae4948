// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <list>
#include <string_view>

#include "base/check.h"
#include "data/fit_images.h"
#include "model/bind_columns.h"
#include "model/check_values.h"
#include "model/custom_metrics.h"
#include "train/chunks.h"
#include "train/early_stopping.h"
#include "train/epoch_updates.h"
#include "train/recipes.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A data set with the programs that go through it.
struct Part {
  const char* name = "";  ///< in its programs' keys: parts with programs of their own stay bound
  StepData data = {};
  std::int64_t samples = 0;
  DataPass pass;
  BatchStream* stream = nullptr;  ///< null: the device gathers by itself

  StepInfo first_step(std::uint64_t seed) const {
    return {.seed = seed, .samples = static_cast<std::uint64_t>(samples)};
  }
};

void check_options(const FitOptions& o) {
  require(o.epochs >= 1, "expected at least 1 epoch; got {}", o.epochs);
  require(o.batch >= 1, "expected a batch of at least 1; got {}", o.batch);
  require(o.accumulate >= 1, "expected at least 1 batch of an update; got {}", o.accumulate);
  require(o.prefetch >= 1, "expected at least 1 batch to be prefetched; got {}", o.prefetch);
  require(o.decoders >= 0, "expected 0 threads that decode or more; got {}", o.decoders);
  require(o.patience >= 0, "the patience must not be negative; got {}", o.patience);
}

/// One call of Trainer::fit(): its programs, and the loop over epochs.
class Fit {
 public:
  Fit(TrainerState& trainer, const Dataset& data, const FitOptions& options, const OnStep& on_step)
      : trainer_(trainer),
        objective_(trainer.only("fit() trains one alone; step(NAME, batch) is for several")),
        model_(trainer.state()),
        turn_(trainer, "fit()"),
        data_(data),
        options_(options),
        callback_(options.callback != nullptr ? *options.callback : silent_),
        on_step_(on_step),
        session_(model_, options.decoders),
        data_name_(data.info().name),
        first_epoch_(trainer.epochs + 1),
        last_epoch_(trainer.epochs + options.epochs) {
    check_options(options);
    const StepData steps = data_of(data_);
    train_ = {.data = steps, .samples = data.size(), .pass = {}};
    if (options.validation.size() > 0) {
      validation_ = {.data = held_out_data(options.validation, data.classes()),
                     .samples = options.validation.size(),
                     .pass = {}};
      tests_every_epoch_ = false;
    }
    if (options.test.size() > 0) {
      test_ = {.name = "test ",
               .data = held_out_data(options.test, data.classes()),
               .samples = options.test.size(),
               .pass = {}};
    }
    check_watch();
    check_samples(data);
    build();
    record_training(trainer.model, data, steps);
  }

  ~Fit() { trainer_.explain = nullptr; }
  Fit(const Fit&) = delete;
  Fit& operator=(const Fit&) = delete;

  History run(Clock::time_point start) {
    trainer_.check_finite();  // of steps before, which nobody may have looked at
    History history;
    history.planned_bytes = session_.planned_bytes();
    history.startup_seconds = seconds_since(start);
    training_start_ = Clock::now();
    EarlyStopping patience(options_.patience, options_.watch);
    for (std::int64_t epoch = first_epoch_; epoch <= last_epoch_; ++epoch) {
      EpochReport report;
      report.epoch = epoch;
      train_epoch(report);
      // Otherwise the next epoch's loss tells, and the device need not wait for the host.
      const bool respected = options_.callback != nullptr || options_.patience > 0;
      if (respected || options_.keep_best || epoch == last_epoch_) trainer_.check_weights();
      hear_stop();
      report.validation = evaluate(validation_, epoch, "validation");
      if (tests_every_epoch_) report.test = evaluate(test_, epoch, "test");
      objective_.schedule.end_epoch(watched(report).loss);
      const bool better = patience.improved(report);
      if (options_.keep_best && better) trainer_.best = trainer_.model.weights();
      history.stopped_early = !stopping_ && patience.exhausted();
      const bool last = stopping_ || history.stopped_early || epoch == last_epoch_;
      if (last && !tests_every_epoch_) report.test = evaluate(test_, epoch, "test");
      history.epochs.push_back(report);
      callback_.on_epoch(report);
      if (stopping_ || history.stopped_early) break;
    }
    history.interrupted = stopping_;
    history.notes = session_.notes();
    callback_.on_end(history);
    return history;
  }

 private:
  StepData data_of(const Dataset& data) const {
    StepData read = objective_.read(data, options_.augment);
    read.metrics = trainer_.options.metrics;
    return read;
  }

  void check_watch() const {
    const std::string& name = options_.watch.metric;
    if (watches_loss(options_.watch)) return;
    if (name == "accuracy") {
      require(train_.data.classification(), "the accuracy is watched, but the targets are values");
      require(options_.watch.better == Better::larger,
              "the accuracy is watched for small values; set Better::larger");
      return;
    }
    const std::vector<CustomMetric>& metrics = trainer_.options.metrics;
    require(std::ranges::any_of(metrics, [&](const CustomMetric& m) { return m.name == name; }),
            "'{}' is watched, which is neither the loss, the accuracy nor a metric of the trainer",
            name);
    require(validation_.samples + test_.samples > 0,
            "the metric '{}' is watched, but there is neither a validation nor a test set that it "
            "is measured on",
            name);
  }

  /// What is known to be useless before the first step.
  void check_samples(const Dataset& data) const {
    const NetworkDefinition& network = model_.definition();
    check_training_values(train_.data.run_of(network), data);
    check_counted_labels(train_.data, data, "training");
    if (validation_.samples > 0) {
      check_training_values(network, options_.validation);
      check_counted_labels(validation_.data, options_.validation, "validation");
    }
    if (test_.samples == 0) return;
    check_training_values(network, options_.test);
    check_counted_labels(test_.data, options_.test, "test");
  }

  /// The classes may stand in another order there than in the training's data.
  StepData held_out_data(const Dataset& data, const std::vector<std::string>& class_names) {
    data.check_labels(objective_.objective.loss_options.ignore_index);
    Dataset fitting = with_class_names(data, class_names);
    if (options_.augment.crops()) {
      const NetworkDefinition& network = model_.definition();
      const Column* images = bind_inputs(network, fitting)[0];
      const auto index = static_cast<std::size_t>(images - fitting.inputs().data());
      fitting = resize_smaller(std::move(fitting), network.inputs[0].sample, index);
    }
    held_out_.push_back(std::move(fitting));
    return data_of(held_out_.back());
  }

  void build() {
    const NetworkDefinition& network = model_.definition();
    const std::int64_t trained =
        options_.drop_last ? train_.samples - train_.samples % options_.batch : train_.samples;
    require(trained > 0, "drop_last leaves nothing of {} training samples at batch {}",
            train_.samples, options_.batch);
    updates_.batches = static_cast<std::uint64_t>(options_.accumulate);
    const std::int64_t steps = updates_of(updates_of(trained, options_.batch), options_.accumulate);
    optimizer_ = objective_.optimizer(last_epoch_, steps, train_.data);
    objective_.schedule.set_steps(optimizer_.settings.warmup_steps, steps);
    for (Part* part : {&train_, &validation_, &test_}) {
      if (part->samples == 0 || !(options_.streamed || part->data.has_source())) continue;
      part->stream = session_.stream(part->data, options_.batch, options_.prefetch);
    }
    if (trained % options_.batch == 1 || options_.batch == 1) {
      check_batch_norms(network, trained, options_.batch, trained_parameters(network, optimizer_));
    }
    const TrainingStep step{.shuffle = options_.shuffle && train_.stream == nullptr,
                            .optimizer = optimizer_,
                            .average = objective_.average(),
                            .moments = objective_.moments,
                            .disabled_passes = trainer_.options.disabled_passes};
    const auto recipe = options_.accumulate == 1 ? training_recipe : leaf_recipe;
    train_.pass =
        session_.add_pass(trained, options_.batch,
                          recipe(objective_.key, model_, train_.data, step, objective_.memory));
    updates_.pass = &train_.pass;
    if (options_.accumulate > 1) {
      updates_.tree =
          std::make_unique<LeafSteps>(session_, model_, objective_.key, train_.data, step,
                                      objective_.memory, updates_.batches, options_.shuffle);
    }
    for (Part* part : {&validation_, &test_}) {
      if (part->samples == 0) continue;
      part->pass =
          session_.add_pass(part->samples, options_.batch,
                            evaluation_recipe(objective_.key + part->name, model_, part->data));
      part->pass.one_batch = network.draws_noise();
    }
    allocate();
    for (Part* part : {&train_, &validation_, &test_}) {
      if (part->samples == 0) continue;
      if (part->stream != nullptr) {
        session_.feed(part->pass, part->data, *part->stream, part == &train_ && options_.shuffle);
      } else {
        session_.bind_data(part->pass, part->data);
      }
    }
  }

  void allocate() {
    const bool on_host = model_.backend->threads() > 0;
    try {
      for (const Part* part : {&train_, &validation_, &test_}) {
        if (part->samples > 0 && part->stream == nullptr) session_.keep(part->data);
      }
      session_.attach();
    } catch (const OutOfMemory& error) {
      if (on_host || options_.streamed || train_.data.has_source()) throw;
      throw OutOfMemory(
          fmt::format("{}; streamed (--streamed), the data set '{}' of {:.1f} MiB stays in host "
                      "memory and the device holds {} batches of it",
                      error.what(), data_name_,
                      static_cast<double>(train_.data.parts[0].bytes.size()) / (1 << 20),
                      options_.prefetch),
          error.wanted, error.free);
    }
  }

  /// A whole epoch, or what of it was done when a stop was requested.
  void train_epoch(EpochReport& report) {
    reset_counters(model_, *trainer_.memory);
    const std::uint64_t steps = updates_.count();
    StepInfo first = train_.first_step(trainer_.options.seed);
    first.epoch = static_cast<std::uint64_t>(report.epoch);
    first.step = trainer_.steps;
    first.update = objective_.updates;
    first.schedule_lead = (report.epoch - 1) * static_cast<std::int64_t>(steps) -
                          static_cast<std::int64_t>(objective_.updates);
    trainer_.explain = [this, first](NotFinite& found) {
      found.epoch = static_cast<std::int64_t>(first.epoch);
      updates_.explain(first, found);
    };
    const Clock::time_point start = Clock::now();
    bool stopped = false;
    std::uint64_t step = 0;
    const bool whole = whole_epochs(train_) && options_.accumulate == 1;
    for (Chunks chunks(steps, whole); step < steps && !stopped;) {
      const std::uint64_t end = chunks.next(step);
      run_steps(first, step, end);
      step = end;
      const TrainingCounters done = counters_of(model_, *trainer_.memory);
      trainer_.check_finite(done.stopped);
      report.train = done.counters.evaluation(train_.data.classification());
      report.seconds = seconds_since(start);
      callback_.on_progress(progress(report));
      stopped = stop_requested();
    }
    trainer_.epochs = report.epoch;
    report.samples_per_second = static_cast<double>(report.train.samples) / report.seconds;
    report.step_losses = step_losses(model_, *trainer_.memory, first.step, first.step + step);
    const StepInfo last = first.after(step - 1, 0);
    report.learning_rate =
        learning_rate_at(optimizer_.settings, last.schedule_step()) * rate_factor_;
  }

  /// Steps [begin, end) of the epoch, with the rates that the host knows.
  void run_steps(StepInfo first, std::uint64_t begin, std::uint64_t end) {
    const HostSchedule& schedule = objective_.schedule;
    for (std::uint64_t step = begin; step < end;) {
      const bool tells = hears_batches();
      const std::uint64_t stride = schedule.every_step() || tells ? 1 : end - step;
      first.rate_factor = rate_factor_ = schedule.factor(first.after(step, 0));
      session_.attach();  // a callback may have made the arena grow
      updates_.run(first, step, step + stride);
      trainer_.steps = first.step + step + stride;
      objective_.updates = first.update + step + stride;
      if (tells) on_step_(first.step + step);
      step += stride;
    }
  }

  /// After one step it is known whether the callback wants to hear of each.
  bool hears_batches() const {
    return options_.callback != nullptr && options_.callback->hears_batches();
  }

  bool stop_requested() {
    requested_ = requested_ || callback_.stop_requested();
    return requested_;
  }

  /// The first time that a stop is requested there is something to save.
  void hear_stop() {
    if (stopping_ || !stop_requested()) return;
    stopping_ = true;
    callback_.on_stop();
  }

  /// A host that feeds an epoch batch by batch can look up in between.
  bool whole_epochs(const Part& part) const {
    return model_.backend->runs_whole_epochs() && part.stream == nullptr;
  }

  Progress progress(const EpochReport& report) const {
    const auto samples = static_cast<std::int64_t>(train_.pass.samples);
    const auto done =
        static_cast<double>((report.epoch - first_epoch_) * samples + report.train.samples);
    const auto total = static_cast<double>(options_.epochs * samples);
    return {.epoch = report.epoch,
            .epochs = last_epoch_,
            .samples_done = report.train.samples,
            .samples = samples,
            .loss = report.train.loss,
            .accuracy = report.train.accuracy,
            .samples_per_second = static_cast<double>(report.train.samples) / report.seconds,
            .seconds_left = seconds_since(training_start_) * (total - done) / done};
  }

  /// In runs of about a tenth of a second, so that a stop is heard; the whole pass all the same.
  Evaluation evaluate(const Part& part, std::int64_t epoch, std::string_view name) {
    if (part.samples == 0) return {};
    session_.reset_counters();
    reset_metric_sums(model_, part.data);
    const std::uint64_t steps = part.pass.steps();
    Counters counters;
    std::uint64_t step = 0;
    for (Chunks chunks(steps, whole_epochs(part)); step < steps;) {
      const std::uint64_t end = chunks.next(step);
      session_.attach();  // a callback may have made the arena grow
      part.pass.run(part.first_step(0), step, end);
      step = end;
      counters = session_.counters();
      if (step < steps) {
        callback_.on_evaluation({.epoch = epoch,
                                 .epochs = last_epoch_,
                                 .samples_done = static_cast<std::int64_t>(counters.samples),
                                 .samples = part.samples});
      }
      hear_stop();
    }
    // Weights that were saved when a stop was requested are no longer to be kept from a file.
    require(counters.not_finite == 0 || stopping_,
            "the {} loss is NaN or infinite after epoch {}, although all weights are finite: they "
            "have grown too large; a lower learning rate, gradient clipping or scaled inputs may "
            "help",
            name, epoch);
    Evaluation evaluation = counters.evaluation(train_.data.classification());
    evaluation.metrics = metrics_of(model_, part.data);
    return evaluation;
  }

  TrainerState& trainer_;
  ObjectiveState& objective_;
  ModelState& model_;
  Turn turn_;
  // Handles of its own: a callback may change those that the caller gave.
  const Dataset data_;
  const FitOptions options_;
  Callback silent_;
  Callback& callback_;
  const OnStep& on_step_;
  Session session_;
  std::string data_name_;
  std::int64_t first_epoch_;
  std::int64_t last_epoch_;
  OptimizerAttrs optimizer_;
  double rate_factor_ = 1;  ///< of the last step
  Part train_;
  EpochUpdates updates_;  ///< of train_
  Part validation_;
  Part test_;
  std::list<Dataset> held_out_;  ///< which the parts read
  bool tests_every_epoch_ = true;
  bool requested_ = false;
  bool stopping_ = false;  ///< and the callback knows
  Clock::time_point training_start_;
};

}  // namespace

History fit(TrainerState& trainer, const Dataset& data, const FitOptions& options,
            const OnStep& on_step) {
  const Clock::time_point start = Clock::now();
  Fit fit(trainer, data, options, on_step);
  return fit.run(start);
}

}  // namespace linnet
