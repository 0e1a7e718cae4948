// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

class StepResult;

/// Reports a pass over a data set in inference mode, or an epoch of training.
struct Evaluation {
  double loss = 0;           ///< mean over the samples, by their weights where they have any
  double accuracy = 0;       ///< share of right labels, in [0, 1]; NaN for targets that are values
  std::int64_t samples = 0;  ///< number of samples; 0: nothing was evaluated
  /// Own metrics, by CustomMetric::name. An epoch of training has none.
  std::map<std::string, double> metrics = {};
  /// Result of one view of each image, beside that of several (evaluate_views()); else null.
  std::shared_ptr<const Evaluation> one_view = nullptr;
};

/// Reports one epoch of a fit.
struct EpochReport {
  std::int64_t epoch = 0;  ///< number of the epoch, from 1
  Evaluation train;        ///< over the epoch's training batches, while the weights changed
  Evaluation validation;   ///< over the validation set; no samples without one
  Evaluation test;         ///< over the test set; no samples where it was not evaluated
  /// Loss of each step, in order; the newest 4096 of an epoch of more steps.
  std::vector<float> step_losses = {};
  double learning_rate = 0;       ///< of the epoch's last step; 0 with LevenbergMarquardt
  double seconds = 0;             ///< time of training alone, without the evaluations
  double samples_per_second = 0;  ///< training speed, without the evaluations
  bool complete = true;           ///< false for an epoch that a stop cut short
};

/// Reports the progress of a running epoch.
struct Progress {
  std::int64_t epoch = 0;         ///< number of the epoch, from 1
  std::int64_t epochs = 0;        ///< number of the fit's last epoch
  std::int64_t samples_done = 0;  ///< samples of this epoch trained so far
  std::int64_t samples = 0;       ///< samples of an epoch
  double loss = 0;                ///< mean over the epoch so far
  double accuracy = 0;            ///< mean over the epoch so far; NaN for targets that are values
  double samples_per_second = 0;  ///< speed over the epoch so far
  double seconds_left = 0;        ///< estimated time to the end of the fit
};

/// Reports the progress of a pass over a validation or test set.
struct EvaluationProgress {
  std::int64_t epoch = 0;         ///< number of the epoch that it follows, from 1
  std::int64_t epochs = 0;        ///< number of the fit's last epoch
  std::int64_t samples_done = 0;  ///< samples evaluated so far
  std::int64_t samples = 0;       ///< samples of the set
};

/// Reports a whole fit.
struct History {
  std::vector<EpochReport> epochs;  ///< the epochs of this fit, in order
  bool stopped_early = false;       ///< whether FitOptions::patience ended the fit
  /// Whether a callback asked to stop; the last epoch may be incomplete.
  bool interrupted = false;
  double startup_seconds = 0;     ///< time from the call to the first step: compile, allocate
  std::size_t planned_bytes = 0;  ///< memory of the training, all of it known before the first step
  std::int64_t shards = 1;        ///< parts in which batches were computed: FitOptions::shards
  /// Sentences that say what the device could not do, how many steps fp16 left out, and which
  /// checkpoints were not written.
  std::vector<std::string> notes;
};

/// Reports a checkpoint that was written, or could not be.
struct CheckpointReport {
  std::filesystem::path file;  ///< the checkpoint
  std::int64_t epoch = 0;      ///< epoch that was running or had just ended, from 1
  std::uint64_t step = 0;      ///< Trainer::steps() that it holds
  double seconds = 0;          ///< time that it took
  std::string error = {};      ///< why it could not be written; empty: it is on the disk
};

/// Reports a fit that continues one that was stopped.
struct ResumeReport {
  std::filesystem::path file;  ///< the checkpoint; empty after Trainer::load_state()
  std::int64_t epoch = 0;      ///< epoch that continues or starts, from 1
  std::uint64_t step = 0;      ///< Trainer::steps() at which the fit continues
  /// The finished epochs; History begins with them. Their step_losses are the newest 4096 in
  /// all.
  std::vector<EpochReport> epochs;
  /// Sentences that name newer, damaged checkpoints that were skipped, and a checkpoint of another
  /// version of the library.
  std::vector<std::string> notes = {};
};

/// Watches a fit: derive from it, override what you need, and pass it as FitOptions::callback.
/// Every function is called on the thread that trains, between steps. An exception that one throws
/// ends the fit and reaches the caller.
///
/// A function may use the trainer and its model: evaluate, predict, ask for gradients, state() and
/// best(), save the model, change weights. Only changed weights change what the fit computes. In
/// the middle of an epoch, state() has the position after the last whole epoch. fit(), step(),
/// minimize() and load_state() of the same trainer throw Error; another trainer's are allowed, also
/// on the same model. The Trainer handle itself may be destroyed; the fit continues to its end.
class Callback {
 public:
  virtual ~Callback() = default;
  /// Called after every step. An override makes the host run one step at a time, and
  /// StepResult::loss() waits for the device; without an override it costs nothing.
  virtual void on_batch(const StepResult& /*step*/) { hears_batches_ = false; }
  /// Called several times a second while an epoch runs.
  virtual void on_progress(const Progress& /*progress*/) {}
  /// Called several times a second while a long evaluation runs.
  virtual void on_evaluation(const EvaluationProgress& /*progress*/) {}
  /// Called after the epoch's evaluations. Weights and losses are finite.
  virtual void on_epoch(const EpochReport& /*report*/) {}
  /// Returns true to end the training after the current step or evaluation. Called as often as
  /// on_progress() and on_evaluation(). The default returns false.
  virtual bool stop_requested() { return false; }
  /// Called once, as soon as a stop was requested, after a checkpoint was written
  /// (FitOptions::checkpoints). The weights are finite, and nothing is evaluated before it returns:
  /// the place to save where the stop may not wait for on_epoch().
  virtual void on_stop() {}
  /// Called before the first step of a fit that continues one that was stopped.
  virtual void on_resume(const ResumeReport& /*report*/) {}
  /// Called after each checkpoint, also one that could not be written.
  virtual void on_checkpoint(const CheckpointReport& /*report*/) {}
  /// Called after the last epoch, also of a fit that was stopped, but not after an Error.
  virtual void on_end(const History& /*history*/) {}

  /// @cond
  // For the library: whether on_batch() is overridden; true until the default was called once.
  bool hears_batches() const { return hears_batches_; }
  /// @endcond

 private:
  bool hears_batches_ = true;
};

/// Writes lines that report a fit: one for each epoch, one at the end, and optionally some for
/// steps. The library prints nothing unless a LogCallback is given.
/// @code
/// LogCallback log([](std::string_view line) { spdlog::info("{}", line); });
/// trainer.fit(data, {.epochs = 10, .callback = &log});
/// @endcode
class LogCallback : public Callback {
 public:
  /// Takes one line, without its end.
  using Write = std::function<void(std::string_view line)>;

  /// Makes a log that calls `write` for each line; an empty one writes to the standard error
  /// stream. `every_steps` above 0 adds a line with the loss after every `every_steps` steps, and
  /// waits for the device there. Throws Error for a negative one.
  explicit LogCallback(Write write = {}, std::int64_t every_steps = 0);

  void on_batch(const StepResult& step) override;       ///< writes every `every_steps` steps
  void on_progress(const Progress& progress) override;  ///< notes the number of epochs
  void on_epoch(const EpochReport& report) override;    ///< writes the epoch's numbers
  void on_end(const History& history) override;         ///< writes how the fit ended

 private:
  Write write_;
  std::uint64_t every_steps_;
  std::int64_t epochs_ = 0;  ///< number of the fit's last epoch
};

}  // namespace linnet
LINNET_API_END
