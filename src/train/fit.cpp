// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <list>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/instructions.h"
#include "data/fit_images.h"
#include "dist/rank_group.h"
#include "model/bind_columns.h"
#include "model/check_values.h"
#include "model/evaluation_sums.h"
#include "model/memory_report.h"
#include "model/optimizers.h"
#include "train/checkpoint_writer.h"
#include "train/chunks.h"
#include "train/early_stopping.h"
#include "train/fit_checks.h"
#include "train/fit_parts.h"
#include "train/fit_phases.h"
#include "train/member_fit.h"
#include "train/not_finite.h"
#include "train/recipes.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Names the file in what reading its entries throws.
template <class F>
void in_file(const std::filesystem::path& file, const F& read) {
  try {
    read();
  } catch (const Error& error) {
    fail_again<DataError>(error, "the checkpoint '{}' is damaged: {}", file.string(), error.what());
  }
}

/// Lets a fit compile for the updates that parameters of its checkpoint left out, before it is
/// known whether the checkpoint will be loaded.
class ComingLeftOut {
 public:
  ComingLeftOut(ObjectiveState& objective, const std::optional<SavedCheckpoint>& saved)
      : objective_(objective),
        before_(objective.left_out),
        at_(objective.left_out_at),
        kept_(!saved) {
    if (!saved) return;
    objective.left_out.clear();
    objective.left_out_at = 0;
    if (saved->state.find(kLeftOut) == nullptr) return;
    in_file(saved->file, [&] {
      objective.left_out = left_out_of(saved->state, "", objective.network().parameters.size(),
                                       position_of(saved->state).steps);
    });
    objective.left_out_at = objective.updates;
  }
  ~ComingLeftOut() {
    if (kept_) return;
    objective_.left_out = before_;
    objective_.left_out_at = at_;
  }
  ComingLeftOut(const ComingLeftOut&) = delete;
  ComingLeftOut& operator=(const ComingLeftOut&) = delete;

  /// Is called once the checkpoint is loaded.
  void keep() { kept_ = true; }

 private:
  ObjectiveState& objective_;
  std::vector<std::int64_t> before_;
  std::uint64_t at_;
  bool kept_;
};

/// One call of Trainer::fit(): its programs, and the loop over epochs.
class Fit {
 public:
  /// on_step: empty where no function is called for each step. saved: the checkpoint that the fit
  /// continues, if there is one. take: CheckpointWriter's.
  Fit(TrainerState& trainer, const Dataset& data, const FitOptions& options, OnStep on_step,
      const std::optional<SavedCheckpoint>& saved, TakeCheckpoint take = {})
      : trainer_(trainer),
        objective_(trainer.only("fit() needs a trainer with one; call step(NAME, batch)")),
        model_(trainer.state()),
        turn_(trainer, "fit()"),
        left_out_(objective_, saved),
        data_(data),
        options_(options),
        callback_(options.callback != nullptr ? *options.callback : silent_),
        on_step_(std::move(on_step)),
        session_(model_, options.decoders),
        data_name_(data.info().name),
        ranks_(RankAccess::group(trainer.options.ranks)),
        checkpoints_(checkpoints_of(options.checkpoints), std::move(take)) {
    check_options(options);
    checkpoints_.open();
    place_.first_epoch = place_.epoch = trainer.epochs + 1;
    place_.last_epoch = trainer.epochs + options.epochs;
    const std::optional<FitState> stopped = stopped_fit(saved);
    if (stopped) {
      place_.first_epoch = stopped->first_epoch;
      place_.last_epoch = stopped->last_epoch;
      place_.epoch = stopped->epoch;
      place_.updates = stopped->updates;
    }
    if (stopped && options_.shards == 0) options_.shards = shards_of(stopped->settings);
    const StepData steps = with_metrics(objective_.read(data_, options_.augment));
    parts_.train = {.data = steps, .samples = data.size(), .pass = {}};
    if (options.validation.size() > 0) {
      parts_.validation = {.data = held_out_data(options.validation, data.classes()),
                           .samples = options.validation.size(),
                           .pass = {}};
      tests_every_epoch_ = false;
    }
    if (options.test.size() > 0) {
      parts_.test = {.name = "test ",
                     .data = held_out_data(options.test, data.classes()),
                     .samples = options.test.size(),
                     .pass = {}};
    }
    check_watch(options_.watch, parts_.train.data.classification(), trainer_.options.metrics,
                parts_.validation.samples + parts_.test.samples > 0);
    check_samples(data);
    build();
    if (checkpoints_.enabled() || stopped || ranks_ != nullptr) {
      place_.settings = settings_of(trainer, data_, options_, optimizer_, parts_.train.data,
                                    stopped ? stopped->settings : FitSettings());
    }
    if (stopped) resume(*stopped, saved);
    if (ranks_ != nullptr) meet();
    enter_phase();
    record_training(trainer.model, data, steps);
  }

  ~Fit() { trainer_.explain = nullptr; }
  Fit(const Fit&) = delete;
  Fit& operator=(const Fit&) = delete;

  History run(Clock::time_point start) {
    trainer_.check_finite();  // of steps before, which nobody may have looked at
    History history;
    history.planned_bytes = session_.planned_bytes();
    if (parts_.updates.least_squares) {
      history.planned_bytes += parts_.updates.least_squares->bytes();
    }
    history.startup_seconds = seconds_since(start);
    training_start_ = Clock::now();
    if (resumed_) callback_.on_resume(*resumed_);
    while (!place_.ended() && !stopping_) {
      run_epoch();
      if (!stopping_ && !place_.ended()) hear_stop_after_epoch();
    }
    history.stopped_early = place_.stopped_early;
    history.epochs = std::move(place_.epochs);
    history.interrupted = stopping_;
    history.shards = static_cast<std::int64_t>(form_.shards.count);
    history.notes = notes_;
    if (parts_.updates.ended()) {
      history.notes.push_back(fmt::format(
          "the training ended after epoch {}: no step of levenberg_marquardt lowers the loss",
          history.epochs.back().epoch));
    }
    for (const std::string& note : session_.notes()) history.notes.push_back(note);
    if (std::string note = note_on_scale(); !note.empty()) history.notes.push_back(note);
    for (const std::string& failure : checkpoints_.failures()) history.notes.push_back(failure);
    callback_.on_end(history);
    return history;
  }

  /// Saves where the fit is now, which is between two steps.
  void save_checkpoint() {
    trainer_.check_finite();
    trainer_.check_weights();
    const bool within = place_.updates > 0;
    place_.counters = within ? saved_counters(model_, *trainer_.memory) : std::vector<double>{};
    place_.losses = within ? step_losses(model_, *trainer_.memory, trainer_.steps - place_.updates,
                                         trainer_.steps)
                           : std::vector<float>{};
    place_.waited = patience_.memory();
    place_.best = options_.keep_best ? trainer_.best : std::nullopt;
    place_.engines = trainer_.model.engine_choices();
    State state = state_of(trainer_);
    state.set("position/epochs", Tensor(std::vector<std::int64_t>{place_.epoch - 1}, Shape{}));
    place_.save(state);
    const std::int64_t epoch = within ? place_.epoch : place_.epoch - 1;
    callback_.on_checkpoint(checkpoints_.write(state, epoch, trainer_.steps, place_.best_step));
  }

 private:
  /// Returns how many steps of the whole training overflowed in fp16; empty: none.
  std::string note_on_scale() const {
    if (!scales_loss(model_)) return {};
    const Tensor scale = objective_.loss_scale();
    const float skipped = scale.as<float>()[static_cast<std::size_t>(LossScale::skipped)];
    if (skipped == 0) return {};
    return fmt::format(
        "{:.0f} of {} steps changed nothing, since a gradient was too large for fp16; the loss is "
        "multiplied by {} now",
        skipped, trainer_.steps, scale.as<float>().front());
  }

  /// Only rank 0 writes.
  Checkpoints checkpoints_of(Checkpoints options) const {
    if (ranks_ != nullptr && ranks_->rank() > 0) options.folder.clear();
    return options;
  }

  /// Throws Error on all ranks unless they are to train the same, from the same place.
  void meet() {
    std::map<std::string, std::string> same(place_.settings.begin(), place_.settings.end());
    same["instructions"] = vector_instructions();
    same["reduce"] = to_string(ranks_->reduce());
    same["bucket_bytes"] = std::to_string(trainer_.options.bucket_bytes);
    same["step"] = std::to_string(trainer_.steps);
    same["weights"] = weights_text(trainer_.state());
    for (const auto& [node, engine] : trainer_.model.engine_choices())
      same["engine " + node] = engine;
    ranks_->check_equal(same, "the start of the training");
  }

  /// Returns the fit to continue: the checkpoint's, else that of a state that was loaded.
  std::optional<FitState> stopped_fit(const std::optional<SavedCheckpoint>& saved) const {
    if (!saved) return trainer_.stopped_fit;
    std::optional<FitState> fit;
    in_file(saved->file, [&] { fit = FitState::of(saved->state); });
    require(fit.has_value(), "'{}' is not a checkpoint of a fit", saved->file.string());
    return fit;
  }

  /// Throws Error, before the trainer changes, unless the stopped fit is this one.
  void resume(const FitState& stopped, const std::optional<SavedCheckpoint>& saved) {
    const std::string what =
        saved ? fmt::format("the checkpoint '{}'", saved->file.string()) : "the loaded checkpoint";
    check_settings(stopped.settings, place_.settings, what);
    const std::map<std::string, std::string> engines = trainer_.model.engine_choices();
    require(stopped.engines == engines,
            "{} was written by a fit with other engines, chosen by measurement; give the model its "
            "engine_choices() as CpuOptions::choices",
            what);
    const FitLength length{.epochs = options_.epochs,
                           .steps = parts_.train.pass.steps(),
                           .samples = {parts_.train.samples, parts_.validation.samples,
                                       parts_.test.samples}};
    Position at{trainer_.epochs, trainer_.steps};
    if (saved) {
      in_file(saved->file, [&] { at = position_of(saved->state); });
    }
    check_place(stopped, length, at.steps, at.epochs, what);
    if (saved) {
      in_file(saved->file, [&] { load(trainer_, saved->state); });
      left_out_.keep();
    }
    trainer_.stopped_fit.reset();
    place_ = stopped;
    patience_.remember(place_.waited);
    resumed_ = report_on(place_, trainer_.steps, what);
    if (!saved) return;
    resumed_->file = saved->file;
    resumed_->notes.insert(resumed_->notes.begin(), saved->damaged.begin(), saved->damaged.end());
  }

  /// An epoch, or what is left of it, and its evaluations.
  void run_epoch() {
    EpochReport report;
    report.epoch = place_.epoch;
    train_epoch(report);
    const bool last_epoch = place_.epoch == place_.last_epoch;
    // Otherwise the next epoch's loss tells, and the device need not wait for the host.
    const bool respected = options_.callback != nullptr || options_.patience > 0;
    if (respected || options_.keep_best || last_epoch) trainer_.check_weights();
    hear_stop();
    objective_.fill_averaged_memory();
    // A stop within the evaluations saves the place before them.
    report.validation = evaluate(parts_.validation, place_.epoch, "validation");
    if (tests_every_epoch_) report.test = evaluate(parts_.test, place_.epoch, "test");
    EarlyStopping patience = patience_;
    const bool counts = can_be_best(report, place_.epochs.empty());
    const bool better = counts && patience.improved(report);
    const bool stopped_early = !stopping_ && (patience.exhausted() || parts_.updates.ended());
    const bool last = stopping_ || stopped_early || last_epoch;
    if (last && !tests_every_epoch_) report.test = evaluate(parts_.test, place_.epoch, "test");
    if (counts) {
      objective_.schedule.end_epoch(watched(report).loss, static_cast<std::uint64_t>(report.epoch) *
                                                              parts_.train.pass.steps());
    }
    patience_ = patience;
    if (options_.keep_best && better) trainer_.best = averaged_weights(trainer_, objective_);
    place_.stopped_early = stopped_early;
    place_.epochs.push_back(report);
    callback_.on_epoch(report);
    if (stopping_) return;  // a fit that is not stopped may go on otherwise: the place was saved
    if (better) place_.best_step = static_cast<std::int64_t>(trainer_.steps);
    ++place_.epoch;
    place_.updates = 0;
    place_.seconds = 0;
    enter_phase();
    const bool wanted =
        options_.checkpoints.every_epoch || place_.ended() || checkpoints_.due(trainer_.steps);
    if (checkpoints_.enabled() && wanted) save_checkpoint();
  }

  /// Before a checkpoint of the place, so that it has what a parameter that thaws begins with.
  void enter_phase() {
    if (place_.ended()) return phases_.leave();
    if (!phases_.empty()) phases_.enter(place_.epoch, parts_);
  }

  StepData with_metrics(StepData data) const {
    data.metrics = trainer_.options.metrics;
    return data;
  }

  /// What is known to be useless before the first step.
  void check_samples(const Dataset& data) const {
    const NetworkDefinition& network = model_.definition();
    check_training_values(parts_.train.data.run_of(network), data);
    check_counted_labels(parts_.train.data, data, "training");
    if (parts_.validation.samples > 0) {
      check_training_values(network, options_.validation);
      check_counted_labels(parts_.validation.data, options_.validation, "validation");
    }
    if (parts_.test.samples == 0) return;
    check_training_values(network, options_.test);
    check_counted_labels(parts_.test.data, options_.test, "test");
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
    return with_metrics(step_data(model_.definition(), held_out_.back(),
                                  objective_.held_out_losses(options_.augment),
                                  objective_.losses_of()));
  }

  void build() {
    const std::int64_t trained = options_.drop_last
                                     ? parts_.train.samples - parts_.train.samples % options_.batch
                                     : parts_.train.samples;
    require(trained > 0, "drop_last leaves out all of {} training samples at batch {}",
            parts_.train.samples, options_.batch);
    const bool least_squares = is_least_squares(objective_.objective.optimizer);
    const std::int64_t steps = least_squares ? 1 : updates_of(trained, options_.batch);
    optimizer_ = objective_.optimizer(place_.last_epoch, steps, parts_.train.data);
    objective_.schedule.set_steps(optimizer_.settings.warmup_steps, steps);
    if (parts_.validation.samples + parts_.test.samples > 0) objective_.allocate_averaged_memory();
    plan_phases(static_cast<std::uint64_t>(steps));
    const FitProgram program{model_, objective_, options_, optimizer_, trainer_.options, trained};
    if (least_squares) {
      add_least_squares(program);
    } else {
      form_ = choose_form(parts_, program, notes_);
      options_.shards = static_cast<std::int64_t>(form_.shards.count);
      const OptimizerAttrs& first = phases_.empty() ? optimizer_ : phases_.first_optimizer();
      add_programs(session_, parts_,
                   {model_, objective_, options_, first, trainer_.options, trained}, form_);
      if (!phases_.empty()) phases_.add_programs(session_, parts_, program, form_);
    }
    allocate();
    if (least_squares) parts_.updates.least_squares->bind(session_);
    for (FitPart* part : parts_.all()) {
      const bool shuffles = part == &parts_.train && options_.shuffle;
      if (part->samples > 0) bind(session_, part->pass, *part, shuffles);
    }
    if (!phases_.empty()) phases_.bind(session_, parts_.train, options_.shuffle);
  }

  /// What the trainer's checkpoints say of the optimizer does not change from phase to phase.
  void plan_phases(std::uint64_t steps) {
    if (options_.freeze.empty()) return;
    phases_.plan(options_.freeze, parts_.train.data,
                 {.epoch = place_.epoch,
                  .last_epoch = place_.last_epoch,
                  .updates = place_.updates,
                  .steps_of_epoch = steps});
    optimizer_ = objective_.optimizer(place_.last_epoch, static_cast<std::int64_t>(steps),
                                      parts_.train.data, objective_.objective.trains, {});
    for (std::string& note : notes_on(options_.freeze, place_.last_epoch)) {
      notes_.push_back(std::move(note));
    }
  }

  /// Adds programs whose update takes all samples.
  void add_least_squares(const FitProgram& program) {
    const auto all = static_cast<std::uint64_t>(parts_.train.samples);
    parts_.train.pass = {.batch = all, .samples = all, .model = &model_};
    parts_.updates.pass = &parts_.train.pass;
    parts_.updates.least_squares =
        std::make_unique<LeastSquaresFit>(session_, objective_, parts_.train.data,
                                          parts_.train.samples, options_, trainer_.options,
                                          optimizer_);
    options_.shards = 1;
    add_evaluations(session_, parts_, program, form_);
  }

  void allocate() {
    const bool on_host = model_.backend->capabilities().host_memory;
    try {
      for (const FitPart* part : parts_.all()) {
        if (part->samples > 0 && part->stream == nullptr) session_.keep(part->data);
      }
      session_.attach();
    } catch (const OutOfMemory& error) {
      if (on_host || form_.streamed || parts_.train.data.has_source()) throw;
      throw OutOfMemory(
          fmt::format("{}; streamed (--streamed), the data set '{}' of {} stays in host memory and "
                      "the device holds {} batches of it",
                      error.what(), data_name_, mebibytes(parts_.train.data.parts[0].bytes.size()),
                      options_.prefetch),
          error.wanted, error.free);
    }
  }

  /// An epoch from where it is, or what of it was done when a stop was requested.
  void train_epoch(EpochReport& report) {
    const std::uint64_t steps = parts_.train.pass.steps();
    std::uint64_t& step = place_.updates;
    StepInfo first = parts_.train.first_step(trainer_.options.seed);
    first.epoch = static_cast<std::uint64_t>(report.epoch);
    first.step = trainer_.steps - step;
    first.update = objective_.updates - step;
    first.schedule_lead = (report.epoch - 1) * static_cast<std::int64_t>(steps) -
                          static_cast<std::int64_t>(first.update);
    trainer_.explain = [this, first](NotFinite& found) {
      found.epoch = static_cast<std::int64_t>(first.epoch);
      parts_.updates.explain(first, found);
      if (ranks_ == nullptr) return;
      for (std::string& where : ranks_->gather(found.where, "the search for what is not finite")) {
        if (found.where.empty()) found.where = std::move(where);
      }
    };
    begin_epoch(first, report);
    const Clock::time_point start = Clock::now();
    const double before = place_.seconds;
    double saving = 0;
    bool stopped = false;
    // With checkpoints a stop is heard within an epoch, on whatever device.
    const bool whole =
        whole_epochs(parts_.train) && form_.shards.count == 1 && !checkpoints_.enabled();
    for (Chunks chunks(steps, whole); step < steps && !stopped;) {
      std::uint64_t end = checkpoints_.next(step, first.step, chunks.next(step));
      if (ranks_ != nullptr) {
        ranks_->broadcast(std::as_writable_bytes(std::span(&end, 1)), "the length of a run");
      }
      run_steps(first, step, end);
      step = end;
      const TrainingCounters done = counters_of(model_, *trainer_.memory);
      trainer_.check_finite(done.stopped);
      report.train = done.counters.evaluation(parts_.train.data.classification());
      report.seconds = place_.seconds = before + seconds_since(start) - saving;
      callback_.on_progress(progress(report));
      stopped = stop_requested();
      if (stopped || step == steps || !checkpoints_.due(trainer_.steps)) continue;
      const Clock::time_point begin = Clock::now();
      save_checkpoint();
      saving += seconds_since(begin);
    }
    trainer_.epochs = report.epoch;
    report.complete = step == steps;
    report.samples_per_second = static_cast<double>(report.train.samples) / report.seconds;
    report.step_losses = step_losses(model_, *trainer_.memory, first.step, first.step + step);
    const StepInfo last = first.after(step - 1, 0);
    report.learning_rate =
        learning_rate_at(optimizer_.settings, last.schedule_step()) * rate_factor_;
  }

  /// Counters and data as they are after the steps of the epoch that are done.
  void begin_epoch(const StepInfo& first, EpochReport& report) {
    const std::uint64_t done = place_.updates;
    if (done == 0) return reset_counters(model_, *trainer_.memory);
    restore_counters(model_, *trainer_.memory, place_.counters, place_.losses, trainer_.steps);
    parts_.train.pass.start_at(first, done);
    rate_factor_ = objective_.schedule.factor(first.after(done - 1, 0));
    report.train = counters_of(model_, *trainer_.memory)
                       .counters.evaluation(parts_.train.data.classification());
    report.seconds = place_.seconds;
    samples_before_ = report.train.samples;
  }

  /// Steps [begin, end) of the epoch, with the rates that the host knows.
  void run_steps(StepInfo first, std::uint64_t begin, std::uint64_t end) {
    const HostSchedule& schedule = objective_.schedule;
    for (std::uint64_t step = begin; step < end;) {
      const bool tells = hears_batches();
      const std::uint64_t stride = schedule.every_step() || tells ? 1 : end - step;
      first.rate_factor = rate_factor_ = schedule.factor(first.after(step, 0));
      session_.attach();  // a callback may have made the arena grow
      parts_.updates.run(first, step, step + stride);
      trainer_.steps = first.step + step + stride;
      objective_.updates = first.update + step + stride;
      if (tells) on_step_(first.step + step);
      step += stride;
    }
  }

  /// After one step it is known whether the callback wants to hear of each.
  bool hears_batches() const {
    return on_step_ && options_.callback != nullptr && options_.callback->hears_batches();
  }

  /// Ranks ask each other, between the same steps.
  bool stop_requested() {
    requested_ = requested_ || callback_.stop_requested();
    if (ranks_ != nullptr) requested_ = ranks_->any(requested_, "the question whether to stop");
    return requested_;
  }

  /// The first time that a stop is requested there is something to save.
  void hear_stop() {
    if (stopping_ || !stop_requested()) return;
    stopping_ = true;
    const bool saved = place_.updates == 0 && options_.checkpoints.every_epoch;
    if (checkpoints_.enabled() && !saved) save_checkpoint();
    callback_.on_stop();
  }

  /// A callback may have made up its mind in on_epoch(). The epoch is whole, and then the last one.
  void hear_stop_after_epoch() {
    if (!stop_requested()) return;
    hear_stop();
    if (tests_every_epoch_) return;
    EpochReport& last = place_.epochs.back();
    last.test = evaluate(parts_.test, last.epoch, "test");
  }

  /// A host that feeds an epoch batch by batch can look up in between.
  bool whole_epochs(const FitPart& part) const {
    return model_.backend->capabilities().whole_epochs && part.stream == nullptr;
  }

  Progress progress(const EpochReport& report) const {
    const auto samples = static_cast<std::int64_t>(parts_.train.pass.samples);
    const std::int64_t first = resumed_ ? resumed_->epoch : place_.first_epoch;
    const std::int64_t done =
        (report.epoch - first) * samples + report.train.samples - samples_before_;
    const std::int64_t left =
        (place_.last_epoch - report.epoch + 1) * samples - report.train.samples;
    return {.epoch = report.epoch,
            .epochs = place_.last_epoch,
            .samples_done = report.train.samples,
            .samples = samples,
            .loss = report.train.loss,
            .accuracy = report.train.accuracy,
            .samples_per_second = static_cast<double>(report.train.samples) / report.seconds,
            .seconds_left = seconds_since(training_start_) * static_cast<double>(left) /
                            static_cast<double>(done)};
  }

  /// In runs of about a tenth of a second, so that a stop is heard; the whole pass all the same.
  Evaluation evaluate(const FitPart& part, std::int64_t epoch, std::string_view name) {
    if (part.samples == 0) return {};
    reset_evaluation(model_);
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
                                 .epochs = place_.last_epoch,
                                 .samples_done = static_cast<std::int64_t>(counters.samples),
                                 .samples = part.samples});
      }
      if (ranks_ == nullptr) hear_stop();  // each rank evaluates at its own pace
    }
    // Weights that were saved when a stop was requested are no longer to be kept from a file.
    require<NotFiniteError>(
        counters.not_finite == 0 || stopping_,
        "the {} loss is NaN or infinite after epoch {}, although all weights are finite: they "
        "are too large; a lower learning rate, gradient clipping or scaled inputs may help",
        name, epoch);
    return evaluation_of(model_, part.data);
  }

  TrainerState& trainer_;
  ObjectiveState& objective_;
  ModelState& model_;
  Turn turn_;
  ComingLeftOut left_out_;
  // Handles of its own: a callback may change those that the caller gave.
  const Dataset data_;
  FitOptions options_;  ///< with the shards that were chosen
  Callback silent_;
  Callback& callback_;
  const OnStep on_step_;
  Session session_;
  std::string data_name_;
  RankGroup* ranks_;  ///< null: this process alone
  CheckpointWriter checkpoints_;
  FitState place_;
  EarlyStopping patience_{options_.patience, options_.watch};
  std::optional<ResumeReport> resumed_;
  std::int64_t samples_before_ = 0;  ///< of the epoch that was continued, done before
  OptimizerAttrs optimizer_;
  double rate_factor_ = 1;  ///< of the last step
  FitParts parts_;
  FitPhases phases_{trainer_, objective_};
  FitForm form_;
  std::vector<std::string> notes_;  ///< on the form
  std::list<Dataset> held_out_;     ///< which the parts read
  bool tests_every_epoch_ = true;
  bool requested_ = false;
  bool stopping_ = false;  ///< and the callback knows
  Clock::time_point training_start_;
};

class ReadyMember final : public MemberFit {
 public:
  ReadyMember(TrainerState& trainer, const Dataset& data, const FitOptions& options,
              const std::optional<SavedCheckpoint>& saved, TakeCheckpoint take)
      : fit_(trainer, data, options, {}, saved, std::move(take)), startup_(Clock::now() - begun_) {}

  void save() override { fit_.save_checkpoint(); }
  History run() override { return fit_.run(Clock::now() - startup_); }

 private:
  Clock::time_point begun_ = Clock::now();
  Fit fit_;
  Clock::duration startup_;
};

}  // namespace

std::unique_ptr<MemberFit> prepare_member(TrainerState& trainer, const Dataset& data,
                                          const FitOptions& options,
                                          const std::optional<SavedCheckpoint>& saved,
                                          TakeCheckpoint take) {
  return std::make_unique<ReadyMember>(trainer, data, options, saved, std::move(take));
}

History fit(TrainerState& trainer, const Dataset& data, const FitOptions& options,
            const OnStep& on_step) {
  const Clock::time_point start = Clock::now();
  std::optional<SavedCheckpoint> saved;
  const Checkpoints& checkpoints = options.checkpoints;
  if (checkpoints.resume && !checkpoint_files(checkpoints.folder).empty()) {
    saved = read_checkpoint(checkpoints.folder);
  }
  Fit fit(trainer, data, options, on_step, saved);
  saved.reset();
  return fit.run(start);
}

}  // namespace linnet
