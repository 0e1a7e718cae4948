// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/callback.h>
#include <linnet/trainer.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "config/workloads.h"
#include "report/run_folder.h"

namespace linnet::command {

struct TrainOptions;

/// Holds the time that a command may take (--within), and says how much of it has passed.
class TimeBudget {
 public:
  /// Returns the seconds since the command began.
  using Clock = std::function<double()>;

  TimeBudget(double seconds, Clock clock) : seconds_(seconds), clock_(std::move(clock)) {}

  double seconds() const { return seconds_; }
  double passed() const { return clock_(); }

 private:
  double seconds_;
  Clock clock_;
};

/// Returns the budget of a time as it was given; nothing where none was.
std::optional<TimeBudget> budget_of(const std::string& given,
                                    std::chrono::steady_clock::time_point begun);

/// Holds how long the parts of a training take, in seconds.
struct TrainingTimes {
  double startup = 0;  ///< to the first step: compiling, allocating
  double epoch = 0;    ///< steps and evaluation
  double results = 0;  ///< all that follows the last epoch: scores, report, files
};

/// Watches a short training that is thrown away, to learn the times of the real one. It stops after
/// a few hundredths of the budget: after an epoch, or within the first.
class Rehearsal : public Callback {
 public:
  explicit Rehearsal(const TimeBudget& budget) : budget_(budget), called_(budget.passed()) {}

  void on_progress(const Progress& progress) override;
  void on_stop() override { stopped_ = budget_.passed(); }
  void on_epoch(const EpochReport& report) override;
  bool stop_requested() override;

  /// Returns the times. Call it when all is done that follows a training; `startup` is that of
  /// the training.
  TrainingTimes times(double startup) const;

 private:
  const TimeBudget& budget_;
  double called_;
  double begun_ = -1;  ///< when the first steps were done; below 0: not yet
  double progressed_ = 0;
  double share_ = 0;      ///< of the epoch that is running
  double requested_ = 0;  ///< when it asked for the stop
  double stopped_ = 0;
  double first_ends_ = 0;  ///< the first epoch
  double last_ends_ = 0;   ///< the last epoch, whole or not
  std::int64_t epochs_ = 0;
  bool between_ = false;  ///< whether an epoch has ended and the next one has not begun
  bool stops_ = false;
};

/// Returns how many epochs fit into the time that is left. Throws Error, with an estimate of the
/// least time, where not one does. `given`: the budget as it was written.
std::int64_t epochs_within(const TimeBudget& budget, const TrainingTimes& times,
                           const std::string& given);

/// Returns whether the learning rate follows the number of epochs, so that this has to be known
/// from the beginning.
bool follows_length(const Schedule& schedule);

/// Ends a training before its time is over: after the last epoch that fits, or after a step if an
/// epoch overruns.
class Deadline : public Callback {
 public:
  Deadline(const TimeBudget& budget, const TrainingTimes& times);

  void on_epoch(const EpochReport& report) override;
  bool stop_requested() override;
  /// Returns the seconds until the training has to end.
  double left() const { return end_ - budget_.passed(); }

 private:
  const TimeBudget& budget_;
  double end_;         ///< of the training
  double last_step_;   ///< when an epoch is cut short
  double epoch_;       ///< seconds of the last one
  double epoch_ends_;  ///< of the last one
  double asked_;       ///< when the last step or epoch ended
  bool over_ = false;
};

/// Trains in a folder until `time` ends it; returns the seconds to the first step.
using Rehearse = std::function<double(const Job& job, RunFolder& folder, Callback& time)>;

/// Chooses the number of epochs of a job by a rehearsal, and records it in the run's folder. Early
/// stopping and a checkpoint after each epoch are left out unless they were given. Returns nothing
/// where a signal ends the rehearsal. Throws Error for a time that is too short.
std::optional<TrainingTimes> plan_length(Job& job, const RunFolder& folder,
                                         const TrainOptions& options, const TimeBudget& budget,
                                         const Rehearse& rehearse);

/// Records the length of a training that has ended; returns how its time was spent. `given`: the
/// budget as it was written.
std::string note_on_time(const TrainingOptions& training, const History& history,
                         const RunFolder& folder, const TimeBudget& budget,
                         const std::string& given);

}  // namespace linnet::command
