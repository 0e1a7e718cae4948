// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

class StepResult;

/// Loss (mean over the samples) and accuracy (NaN for regression).
struct Evaluation {
  double loss = 0;
  double accuracy = 0;
  std::int64_t samples = 0;
  std::map<std::string, double> metrics = {};  ///< by CustomMetric::name; none of a training
};

struct EpochReport {
  std::int64_t epoch = 0;  ///< from 1
  Evaluation train;        ///< over the epoch, while the weights changed
  Evaluation validation;   ///< no samples if no validation set was given
  Evaluation test;         ///< no samples if no test data was given
  /// Of the epoch's steps in their order; the newest 4096 where they are more.
  std::vector<float> step_losses = {};
  double learning_rate = 0;  ///< of the epoch's last step
  double seconds = 0;        ///< of training alone, without the evaluations
  double samples_per_second = 0;
};

/// The state of a running epoch.
struct Progress {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t epochs = 0;
  std::int64_t samples_done = 0;
  std::int64_t samples = 0;  ///< in an epoch
  double loss = 0;           ///< mean over the epoch so far
  double accuracy = 0;
  double samples_per_second = 0;  ///< over the epoch so far
  double seconds_left = 0;        ///< of the whole training, estimated
};

/// How far a pass over a validation or test set is.
struct EvaluationProgress {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t epochs = 0;
  std::int64_t samples_done = 0;
  std::int64_t samples = 0;
};

struct History {
  std::vector<EpochReport> epochs;
  bool stopped_early = false;      ///< patience ran out
  bool interrupted = false;        ///< a callback asked to stop; the last epoch may be incomplete
  double startup_seconds = 0;      ///< from the call to the first step: compiling and preparing
  std::size_t planned_bytes = 0;   ///< all memory of training, decided before the first step
  std::vector<std::string> notes;  ///< sentences on what the device could not do
};

/// Watches a fit; every function is called on the thread that trains, between steps.
///
/// What a function may do with the trainer and its model: evaluate, predict, ask for gradients, for
/// state() and best(), save the model, change weights. None of that changes what the fit computes,
/// but for the weights. In the middle of an epoch, state() has the epochs that are done.
/// fit(), step(), minimize() and load_state() of the same trainer throw Error: another trainer's
/// are fine, also on the same model. The Trainer itself may go; the fit then ends as it would have.
class Callback {
 public:
  virtual ~Callback() = default;
  /// After every step: its number, and its loss for those who ask. An override makes the host run
  /// one step at a time, and StepResult::loss() waits for the device; without one this costs
  /// nothing.
  virtual void on_batch(const StepResult& /*step*/) { hears_batches_ = false; }
  /// Several times a second.
  virtual void on_progress(const Progress& /*progress*/) {}
  /// Several times a second while a long evaluation goes on.
  virtual void on_evaluation(const EvaluationProgress& /*progress*/) {}
  /// After the epoch's evaluations. The weights are finite, and so are the losses.
  virtual void on_epoch(const EpochReport& /*report*/) {}
  /// Asked as often as on_progress and on_evaluation; true ends the training after the current step
  /// or evaluation.
  virtual bool stop_requested() { return false; }
  /// Once, as soon as a stop was requested: the weights are finite, and nothing is evaluated before
  /// this returns. The time to save, since what asked for the stop may not wait for on_epoch.
  virtual void on_stop() {}
  /// After the last epoch, also of a fit that was stopped; not after an Error.
  virtual void on_end(const History& /*history*/) {}

  /// Whether on_batch() is overridden, as far as that is known: true until it was called once.
  bool hears_batches() const { return hears_batches_; }

 private:
  bool hears_batches_ = true;
};

/// Writes lines on a fit: one an epoch, one at the end, and, if asked for, some on steps. The
/// library writes nothing anywhere unless a LogCallback is given.
///   LogCallback log([](std::string_view line) { spdlog::info("{}", line); });
///   trainer.fit(data, {.epochs = 10, .callback = &log});
class LogCallback : public Callback {
 public:
  using Write = std::function<void(std::string_view line)>;

  /// write: takes a line without its end; empty: to the standard error stream. every_steps: a line
  /// with the loss after every so many steps, at least 0; 0: none.
  explicit LogCallback(Write write = {}, std::int64_t every_steps = 0);

  void on_batch(const StepResult& step) override;
  void on_progress(const Progress& progress) override;
  void on_epoch(const EpochReport& report) override;
  void on_end(const History& history) override;

 private:
  Write write_;
  std::uint64_t every_steps_;
  std::int64_t epochs_ = 0;  ///< of the fit, as the progress says
};

}  // namespace linnet
LINNET_API_END
