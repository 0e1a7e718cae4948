// SPDX-License-Identifier: Apache-2.0
#include "commands/train_within.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <variant>

#include "base/check.h"
#include "base/counted.h"
#include "commands/interrupt.h"
#include "commands/train_options.h"
#include "config/config.h"
#include "config/duration.h"
#include "report/run_start.h"

namespace linnet::command {
namespace {

constexpr double kRehearsed = 0.04;  // share of the budget that a rehearsal trains
constexpr double kSlower = 1.1;      // the results of a whole training take longer
constexpr double kOutside = 0.03;    // seconds before and after what the command can measure
constexpr double kMargin = 1.02;     // epochs that are planned take longer
constexpr double kLate = 0.01;       // share of the budget by which an epoch may be late
constexpr double kMostEpochs = 1e6;  // that are planned
constexpr std::int64_t kMostRehearsed = 1000;  // epochs
constexpr double kOpen = 1.5;         // times the planned epochs: a fit that is faster goes on
constexpr double kLeastEpoch = 1e-6;  // seconds, where a clock is coarse

/// Returns when the training has to end.
double end_of_training(const TimeBudget& budget, const TrainingTimes& times) {
  return budget.seconds() - kSlower * times.results - kOutside;
}

/// A folder that exists for a moment; one that a run left there when it was killed is removed.
class MomentaryFolder {
 public:
  explicit MomentaryFolder(std::filesystem::path path) : path_(std::move(path)) { remove(); }
  ~MomentaryFolder() { remove(); }
  MomentaryFolder(const MomentaryFolder&) = delete;
  MomentaryFolder& operator=(const MomentaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  void remove() const {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }

  std::filesystem::path path_;
};

/// Returns how long each part of a training takes; nothing where a signal ends the rehearsal.
std::optional<TrainingTimes> rehearsed(Job job, const RunFolder& folder, const TimeBudget& budget,
                                       const Rehearse& rehearse) {
  const MomentaryFolder momentary(folder.path() / "rehearsal");
  RunFolder own(momentary.path(), job.name);
  job.training.epochs = kMostRehearsed;
  job.training.checkpoints.folder = own.checkpoints();
  Rehearsal rehearsal(budget);
  const double startup = rehearse(job, own, rehearsal);
  if (InterruptGuard::requested()) return {};
  return rehearsal.times(startup);
}

/// Replaces arguments of the run's record by the training that follows from them.
void record_length(const RunFolder& folder, std::int64_t epochs, std::int64_t patience) {
  RunStart start = read_run_start(folder.start());
  start.options.erase("--within");
  start.options["--epochs"] = {std::to_string(epochs)};
  start.options["--patience"] = {std::to_string(patience)};
  write_run_start(folder.start(), start);
}

}  // namespace

std::optional<TimeBudget> budget_of(const std::string& given,
                                    std::chrono::steady_clock::time_point begun) {
  if (given.empty()) return {};
  return TimeBudget(*seconds_of(given), [begun] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  });
}

void Rehearsal::on_progress(const Progress& progress) {
  progressed_ = budget_.passed();
  if (begun_ < 0) begun_ = progressed_;
  share_ = static_cast<double>(progress.samples_done) / static_cast<double>(progress.samples);
  between_ = false;
}

void Rehearsal::on_epoch(const EpochReport& report) {
  last_ends_ = budget_.passed();
  if (!report.complete) return;
  if (epochs_++ == 0) first_ends_ = last_ends_;
  between_ = true;
}

bool Rehearsal::stop_requested() {
  if (stops_) return true;
  const double now = budget_.passed();
  const bool enough = begun_ >= 0 && now - begun_ >= kRehearsed * budget_.seconds();
  stops_ = enough && (between_ || (epochs_ == 0 && share_ > 0 && share_ < 1));
  if (stops_) requested_ = now;
  return stops_;
}

TrainingTimes Rehearsal::times(double startup) const {
  const double begins = called_ + startup;
  TrainingTimes times{.startup = startup, .results = budget_.passed() - last_ends_};
  if (epochs_ > 1) {
    times.epoch = (last_ends_ - first_ends_) / static_cast<double>(epochs_ - 1);
  } else if (epochs_ == 1) {
    times.epoch = first_ends_ - begins;
  } else {
    // A stop saves a checkpoint, as the end of a training does, then the set is evaluated.
    times.results += stopped_ - requested_;
    times.epoch = (progressed_ - begins) / share_ + last_ends_ - stopped_;
  }
  times.epoch = std::max(times.epoch, kLeastEpoch);
  return times;
}

std::int64_t epochs_within(const TimeBudget& budget, const TrainingTimes& times,
                           const std::string& given) {
  const double begins = budget.passed() + times.startup;
  const double epochs = (end_of_training(budget, times) - begins) / (kMargin * times.epoch);
  const double least =
      begins + kMargin * times.epoch + budget.seconds() - end_of_training(budget, times);
  require(
      epochs >= 1,
      "--within {} is too short: start-up takes {:.2g} s, one epoch {:.2g} s, results {:.2g} s; "
      "give at least {:.2g}s",
      given, begins, times.epoch, times.results, kMargin * least);
  return static_cast<std::int64_t>(std::min(epochs, kMostEpochs));
}

bool follows_length(const Schedule& schedule) {
  return std::visit(
      [](const auto& of) {
        if constexpr (requires { of.epochs; }) {
          return of.epochs == 0;
        } else {
          return false;
        }
      },
      schedule);
}

Deadline::Deadline(const TimeBudget& budget, const TrainingTimes& times)
    : budget_(budget),
      end_(end_of_training(budget, times)),
      last_step_(end_ + kLate * budget.seconds()),
      epoch_(times.epoch),
      epoch_ends_(budget.passed() + times.startup),
      asked_(epoch_ends_) {}

void Deadline::on_epoch(const EpochReport& /*report*/) {
  const double now = budget_.passed();
  epoch_ = now - epoch_ends_;
  epoch_ends_ = now;
  asked_ = now;  // the next step does not take the time of the evaluation
  over_ = over_ || now + epoch_ > end_;
}

bool Deadline::stop_requested() {
  const double now = budget_.passed();
  over_ = over_ || now + (now - asked_) > last_step_;
  asked_ = now;
  return over_;
}

std::optional<TrainingTimes> plan_length(Job& job, const RunFolder& folder,
                                         const TrainOptions& options, const TimeBudget& budget,
                                         const Rehearse& rehearse) {
  TrainingOptions& training = job.training;
  require(budget.passed() < budget.seconds(),
          "--within {} is too short: reading the data took {:.2g} s", options.within,
          budget.passed());
  const toml::table configured = configured_training(job);
  const bool patient = options.given.has("--patience") || configured.contains("patience");
  const bool saves = options.checkpoint_every || configured.contains("checkpoint_every");
  if (!patient) training.patience = 0;
  if (!saves) training.checkpoints.every_epoch = false;
  const std::optional<TrainingTimes> times = rehearsed(job, folder, budget, rehearse);
  if (!times) return {};
  training.epochs = epochs_within(budget, *times, options.within);
  if (!follows_length(training.schedule)) {
    training.epochs = std::llround(kOpen * static_cast<double>(training.epochs) + 1);
  }
  record_length(folder, training.epochs, training.patience);
  return times;
}

std::string note_on_time(const TrainingOptions& training, const History& history,
                         const RunFolder& folder, const TimeBudget& budget,
                         const std::string& given) {
  const bool cut = !history.epochs.back().complete;
  const std::int64_t whole = std::ssize(history.epochs) - (cut ? 1 : 0);
  const bool planned = follows_length(training.schedule);
  // Early stopping ends the same training again.
  const std::int64_t length = planned || history.stopped_early ? training.epochs : whole;
  const bool keeps_cut = cut && (whole == 0 || !training.keep_best);
  const bool shorter = planned && !history.stopped_early && whole < length;
  if (keeps_cut || shorter) {
    const std::string which =
        cut ? fmt::format("epoch {} was cut short", history.epochs.back().epoch)
            : fmt::format("the training ended after epoch {} of {}", whole, length);
    return fmt::format(
        "{}: epochs became slower than in the rehearsal; the run took {:.1f} s of {} and cannot be "
        "repeated by a number of epochs",
        which, budget.passed(), given);
  }
  record_length(folder, length, training.patience);
  return fmt::format("{} took {:.1f} s of {}; --epochs {} --patience {} repeats the run",
                     counted(whole, "epoch"), budget.passed(), given, length, training.patience);
}

}  // namespace linnet::command
