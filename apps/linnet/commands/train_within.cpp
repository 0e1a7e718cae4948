// SPDX-License-Identifier: Apache-2.0
#include "commands/train_within.h"

#include <algorithm>
#include <variant>

#include "base/check.h"

namespace linnet::command {
namespace {

constexpr double kRehearsed = 0.04;  // share of the budget that a rehearsal trains
constexpr double kSlower = 1.1;      // the results of a whole training take longer
constexpr double kOutside = 0.03;    // seconds before and after what the command can measure
constexpr double kMargin = 1.02;     // epochs that are planned take longer
constexpr double kLate = 0.01;       // share of the budget by which an epoch may be late
constexpr double kMostEpochs = 1e6;

/// Returns when the training has to end.
double end_of_training(const TimeBudget& budget, const TrainingTimes& times) {
  return budget.seconds() - kSlower * times.results - kOutside;
}

}  // namespace

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
  stops_ = enough && (between_ || (epochs_ == 0 && share_ < 1));
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
  return times;
}

std::int64_t epochs_within(const TimeBudget& budget, const TrainingTimes& times,
                           const std::string& given) {
  const double begins = budget.passed() + times.startup;
  const double epochs = (end_of_training(budget, times) - begins) / (kMargin * times.epoch);
  const double least =
      begins + kMargin * times.epoch + budget.seconds() - end_of_training(budget, times);
  require(epochs >= 1,
          "--within {} is too short: until the first step it takes {:.2g} s, an epoch {:.2g} s, "
          "and what follows the training {:.2g} s; expected at least {:.2g}s",
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
  over_ = over_ || now + epoch_ > end_;
}

bool Deadline::stop_requested() {
  const double now = budget_.passed();
  over_ = over_ || now + (now - asked_) > last_step_;
  asked_ = now;
  return over_;
}

}  // namespace linnet::command
