// SPDX-License-Identifier: Apache-2.0
#include <linnet/trainer.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <list>
#include <string_view>

#include "base/check.h"
#include "model/check_values.h"
#include "model/finite.h"
#include "model/session.h"
#include "train/chunks.h"
#include "train/early_stopping.h"

namespace linnet {
namespace {

std::string_view name_of(Loss loss) { return loss_names()[static_cast<std::size_t>(loss)]; }

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Part [begin, begin + samples) of a data set, with the programs that go through it.
struct Part {
  StepData data = {};
  std::uint64_t begin = 0;
  std::int64_t samples = 0;
  Sweep sweep;
  BatchStream* stream = nullptr;  ///< null: the device gathers by itself

  StepInfo first_step(std::uint64_t seed) const {
    return {.seed = seed,
            .records = static_cast<std::uint64_t>(data.samples),
            .begin = begin,
            .samples = static_cast<std::uint64_t>(samples)};
  }
};

void check_options(const TrainingOptions& o) {
  require(o.epochs >= 1, "expected at least 1 epoch; got {}", o.epochs);
  require(o.batch >= 1, "expected a batch of at least 1; got {}", o.batch);
  require(o.validation >= 0 && o.validation < 1, "the validation part must lie in [0, 1); got {}",
          o.validation);
  require(o.pool >= 1, "expected a pool of at least 1 batch; got {}", o.pool);
  require(o.decoders >= 0, "expected 0 threads that decode or more; got {}", o.decoders);
  require(o.patience >= 0, "the patience must not be negative; got {}", o.patience);
}

/// One training: its programs, and the loop over epochs.
class Training {
 public:
  /// `held_out`: a part of its own in the place of `options.validation`; the test part is then
  /// evaluated at the end alone.
  Training(Model& model, const Dataset& data, const TrainingOptions& options,
           const Dataset* held_out, const Dataset* test, Callback* callback)
      : model_(model.state()),
        options_(options),
        watched_(callback != nullptr),
        callback_(watched_ ? *callback : silent_),
        session_(model_, options.decoders),
        data_name_(data.info().name) {
    check_options(options);
    const StepData steps = data_of(data);
    const auto kept_back = static_cast<std::int64_t>(
        std::llround(static_cast<double>(data.size()) * options.validation));
    require(kept_back < data.size(), "the validation part leaves nothing of {} samples to train on",
            data.size());
    train_ = {.data = steps, .samples = data.size() - kept_back, .sweep = {}};
    if (held_out != nullptr && held_out->size() > 0) {
      require(options.validation == 0,
              "'{}' has a validation part of its own; a part of {} can't be held out beside it",
              data.info().name, options.validation);
      validation_ = {.data = held_out_data(*held_out, data.classes()),
                     .samples = held_out->size(),
                     .sweep = {}};
      tests_every_epoch_ = false;
    } else {
      validation_ = {.data = steps,
                     .begin = static_cast<std::uint64_t>(train_.samples),
                     .samples = kept_back,
                     .sweep = {}};
    }
    if (test != nullptr && test->size() > 0) {
      test_ = {.data = held_out_data(*test, data.classes()), .samples = test->size(), .sweep = {}};
    }
    check_samples(data, held_out, test);
    build();
    if (!data.classes().empty()) model.set_class_names(data.classes());
    TrainingRecord record{.sample_shape = steps.parts[0].record.shape.sample()};
    if (steps.targets.front().output == 0) {
      const OutputLoss& how = steps.targets.front().how;
      record.loss = how.custom ? "custom" : std::string(name_of(how.loss));
      record.labels = steps.classification();
    }
    model.set_training_record(std::move(record));
  }

  History run(Clock::time_point start) {
    History history;
    history.planned_bytes = session_.planned_bytes();
    history.startup_seconds = seconds_since(start);
    training_start_ = Clock::now();
    EarlyStopping patience(options_.patience);
    for (std::int64_t epoch = 1; epoch <= options_.epochs; ++epoch) {
      EpochReport report;
      report.epoch = epoch;
      train_epoch(report);
      // Otherwise the next epoch's loss tells, and the device need not wait for the host.
      if (watched_ || options_.patience > 0 || epoch == options_.epochs) check_weights(epoch);
      hear_stop();
      report.validation = evaluate(validation_, epoch, "validation");
      if (tests_every_epoch_) report.test = evaluate(test_, epoch, "test");
      history.stopped_early = !stopping_ && patience.should_stop(report);
      const bool last = stopping_ || history.stopped_early || epoch == options_.epochs;
      if (last && !tests_every_epoch_) report.test = evaluate(test_, epoch, "test");
      history.epochs.push_back(report);
      callback_.on_epoch(report);
      if (stopping_ || history.stopped_early) break;
    }
    history.interrupted = stopping_;
    history.notes = session_.notes();
    return history;
  }

 private:
  StepData data_of(const Dataset& data) const {
    return step_data(model_.definition(), data, options_);
  }

  /// What is known to be useless before the first step.
  void check_samples(const Dataset& data, const Dataset* held_out, const Dataset* test) const {
    const NetworkDefinition& network = model_.definition();
    check_training_values(network, data);
    check_counted_labels(train_.data, data, "training", 0, train_.samples);
    const Dataset& validation = held_out != nullptr && held_out->size() > 0 ? *held_out : data;
    if (&validation != &data) check_training_values(network, validation);
    check_counted_labels(validation_.data, validation, "validation",
                         static_cast<std::int64_t>(validation_.begin), validation_.samples);
    if (test_.samples == 0) return;
    check_training_values(network, *test);
    check_counted_labels(test_.data, *test, "test", 0, test_.samples);
  }

  /// The classes may stand in another order there than in the training's data.
  StepData held_out_data(const Dataset& data, const std::vector<std::string>& class_names) {
    held_out_.push_back(with_class_names(data, class_names));
    data_of(data);  // labels are checked as the data set itself counts them
    return data_of(held_out_.back());
  }

  void build() {
    const NetworkDefinition& network = model_.definition();
    const Supports supports = session_.supports();
    const std::int64_t trained =
        options_.drop_last ? train_.samples - train_.samples % options_.batch : train_.samples;
    require(trained > 0, "drop_last leaves nothing of {} training samples at batch {}",
            train_.samples, options_.batch);
    const std::int64_t steps = (trained + options_.batch - 1) / options_.batch;
    optimizer_ = resolve(options_.optimizer, options_.epochs, steps);
    for (Part* part : {&train_, &validation_, &test_}) {
      if (part->samples == 0 || !(options_.streamed || part->data.has_source())) continue;
      part->stream = session_.stream(part->data, options_.batch, options_.pool);
    }
    if (trained % options_.batch == 1 || options_.batch == 1) {
      check_batch_norms(network, trained, options_.batch);
    }
    train_.sweep = session_.add_sweep(trained, options_.batch, [&](std::int64_t batch) {
      return training_step(network, train_.data,
                           {.batch = batch,
                            .shuffle = options_.shuffle && train_.stream == nullptr,
                            .optimizer = optimizer_,
                            .disabled_passes = options_.disabled_passes},
                           supports);
    });
    for (Part* part : {&validation_, &test_}) {
      if (part->samples == 0) continue;
      part->sweep = session_.add_sweep(part->samples, options_.batch, [&](std::int64_t batch) {
        return evaluation_step(network, part->data, batch, supports);
      });
    }
    allocate();
    for (Part* part : {&train_, &validation_, &test_}) {
      if (part->samples == 0) continue;
      if (part->stream != nullptr) {
        session_.feed(part->sweep, part->data, *part->stream, part == &train_ && options_.shuffle);
      } else {
        session_.bind_data(part->sweep, part->data);
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
                      options_.pool),
          error.wanted, error.free);
    }
  }

  /// A whole epoch, or what of it was done when a stop was requested.
  void train_epoch(EpochReport& report) {
    session_.reset_counters();
    const std::uint64_t steps = train_.sweep.steps();
    StepInfo first = train_.first_step(options_.seed);
    first.epoch = static_cast<std::uint64_t>(report.epoch);
    first.step = first.update = (first.epoch - 1) * steps;
    const Clock::time_point start = Clock::now();
    bool stopped = false;
    std::uint64_t step = 0;
    for (Chunks chunks(steps, whole_epochs(train_)); step < steps && !stopped;) {
      const std::uint64_t end = chunks.next(step);
      train_.sweep.run(first, step, end);
      step = end;
      const Counters counters = session_.counters();
      require(
          counters.not_finite == 0,
          "the loss became NaN or infinite in epoch {} before sample {}; a lower learning rate, "
          "gradient clipping or scaled inputs may help",
          report.epoch, static_cast<std::int64_t>(counters.samples));
      report.train = counters.evaluation(train_.data.classification());
      report.seconds = seconds_since(start);
      callback_.on_progress(progress(report));
      stopped = stop_requested();
    }
    report.samples_per_second = static_cast<double>(report.train.samples) / report.seconds;
    report.step_losses = session_.step_losses(first.step, first.step + step);
    report.learning_rate = learning_rate_at(optimizer_, first.step + step - 1);
  }

  /// The loss shows what the updates before a step have done, but not what the last one did.
  void check_weights(std::int64_t epoch) const {
    const std::string ruined = ruined_weight(model_);
    require(ruined.empty(),
            "the weight '{}' became NaN or infinite in epoch {}; a lower learning rate, gradient "
            "clipping or scaled inputs may help",
            ruined, epoch);
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
    const auto samples = static_cast<std::int64_t>(train_.sweep.samples);
    const auto done = static_cast<double>((report.epoch - 1) * samples + report.train.samples);
    const auto total = static_cast<double>(options_.epochs * samples);
    return {.epoch = report.epoch,
            .epochs = options_.epochs,
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
    const std::uint64_t steps = part.sweep.steps();
    Counters counters;
    std::uint64_t step = 0;
    for (Chunks chunks(steps, whole_epochs(part)); step < steps;) {
      const std::uint64_t end = chunks.next(step);
      part.sweep.run(part.first_step(options_.seed), step, end);
      step = end;
      counters = session_.counters();
      if (step < steps) {
        callback_.on_evaluation({.epoch = epoch,
                                 .epochs = options_.epochs,
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
    return counters.evaluation(train_.data.classification());
  }

  ModelState& model_;
  const TrainingOptions& options_;
  bool watched_;  ///< somebody may save after an epoch
  Callback silent_;
  Callback& callback_;
  Session session_;
  std::string data_name_;
  OptimizerAttrs optimizer_;
  Part train_;
  Part validation_;
  Part test_;
  std::list<Dataset> held_out_;  ///< which the parts read
  bool tests_every_epoch_ = true;
  bool requested_ = false;
  bool stopping_ = false;  ///< and the callback knows
  Clock::time_point training_start_;
};

}  // namespace

History train(Model& model, const Dataset& data, const TrainingOptions& options,
              const Dataset* test, Callback* callback) {
  const Clock::time_point start = Clock::now();
  Training training(model, data, options, nullptr, test, callback);
  return training.run(start);
}

History train(Model& model, const Splits& splits, const TrainingOptions& options,
              Callback* callback) {
  const Clock::time_point start = Clock::now();
  Training training(model, splits.train, options, &splits.validation, &splits.test, callback);
  return training.run(start);
}

Evaluation evaluate(Model& model, const Dataset& data, Loss loss, std::int64_t batch,
                    const LossOptions& loss_options) {
  ModelState& state = model.state();
  const NetworkDefinition& network = state.definition();
  const TrainingOptions options{.loss = loss, .loss_options = loss_options};
  const Dataset named = with_class_names(data, model.class_names());
  step_data(network, data, options);  // labels are checked as the data set itself counts them
  const StepData steps = step_data(network, named, options);
  require(batch > 0, "expected a batch of at least 1; got {}", batch);
  Session session(state);
  Sweep sweep = session.add_sweep(data.size(), batch, [&](std::int64_t n) {
    return evaluation_step(network, steps, n, session.supports());
  });
  // Every sample is needed once: nothing is gained by a whole copy on the device.
  BatchStream* stream = session.stream(steps, batch, TrainingOptions{}.pool);
  if (stream == nullptr) session.keep(steps);
  session.attach();
  stream != nullptr ? session.feed(sweep, steps, *stream, false) : session.bind_data(sweep, steps);
  session.reset_counters();
  const auto samples = static_cast<std::uint64_t>(data.size());
  sweep.run({.records = samples, .samples = samples}, 0, sweep.steps());
  return session.counters().evaluation(steps.classification());
}

}  // namespace linnet
