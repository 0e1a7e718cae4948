// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/augment.h>
#include <linnet/expression.h>
#include <linnet/loss.h>
#include <linnet/model.h>
#include <linnet/optimizer.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace linnet {

/// A loss of one's own, from an output and its targets (labels come as one-hot rows), e.g.
///   [](const Expression& y, const Expression& t) { return mean(square(y - t)); }
/// One number a sample, or any more of them: their mean is the loss.
using CustomLoss = std::function<Expression(const Expression& y, const Expression& target)>;

/// The loss of one output of a network of several; the total is the sum of weight * loss.
struct OutputLoss {
  std::string output;  ///< its name
  Loss loss = Loss::automatic;
  double weight = 1;
  LossOptions options = {};  ///< its l1 and l2 must be 0
  CustomLoss custom = {};    ///< in the loss's place
};

/// Braces alone, train(model, data, {.epoch = 1}), leave the compiler to say no more than "no
/// matching function"; with the type, TrainingOptions{.epoch = 1}, it names the field and the one
/// that was meant.
struct TrainingOptions {
  std::int64_t epochs = 5;
  std::int64_t batch = 128;
  Optimizer optimizer = {};
  Loss loss = Loss::automatic;    ///< of the first output
  LossOptions loss_options = {};  ///< of the first output; l1 and l2 of the network
  CustomLoss custom_loss = {};    ///< of the first output, in the loss's place
  /// Losses and weights of outputs, by name; those with targets and not named here have automatic
  /// losses of weight 1.
  std::vector<OutputLoss> output_losses = {};
  double validation = 0;  ///< part of the training data that is held out, in [0, 1)
  /// Stops when the held-out (or else test) loss has not improved for so many epochs; 0: never.
  std::int64_t patience = 0;
  bool shuffle = true;
  /// Leaves out of each epoch the samples beyond its last whole batch; with `shuffle` other ones
  /// every time.
  bool drop_last = false;
  std::uint64_t seed = 0;  ///< of shuffle, split and dropout
  /// Leaves the data set in host memory: each batch is copied to the device while that computes the
  /// one before, in `pool` buffers (at least 1). The same results to the bit; for data sets that
  /// don't fit. Changes nothing on the CPU, which reads host memory.
  bool streamed = false;
  std::int64_t pool = 3;
  /// Threads that read ahead where samples come from files (Column::source), into a pool of `pool`
  /// batches on every device; 0: all processors. Results don't depend on it.
  int decoders = 0;
  Augment augment = {};  ///< of the first input's pictures
  /// Graph passes to leave out, by name as `linnet plan` prints them; for diagnosis.
  std::vector<std::string> disabled_passes = {};
};

/// Loss (mean over the samples) and accuracy (NaN for regression).
struct Evaluation {
  double loss = 0;
  double accuracy = 0;
  std::int64_t samples = 0;
};

struct EpochReport {
  std::int64_t epoch = 0;  ///< from 1
  Evaluation train;        ///< over the epoch, while the weights changed
  Evaluation validation;   ///< held-out part; no samples if there is none
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

/// Watches a training; every function is called on the thread that trains, between steps.
class Callback {
 public:
  virtual ~Callback() = default;
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
};

struct History {
  std::vector<EpochReport> epochs;
  bool stopped_early = false;      ///< patience ran out
  bool interrupted = false;        ///< a callback asked to stop; the last epoch may be incomplete
  double startup_seconds = 0;      ///< from the call to the first step: compiling and preparing
  std::size_t planned_bytes = 0;   ///< all memory of training, decided before the first step
  std::vector<std::string> notes;  ///< sentences on what the device could not do
};

/// Trains `model` on `data`. The last incomplete batch of an epoch is trained on as it is, unless
/// TrainingOptions::drop_last leaves it out. Results depend on the options, the seeds and the data
/// alone, not on threads.
///
/// Before the first step it throws Error for data that do not fit the network; for samples or
/// targets that are NaN or infinite, ids outside an embedding, and labels that are all ignored; and
/// for a batch, the last one too, that gives a batch norm a single value per channel: its variance
/// is not defined (PyTorch refuses it as well). Later it throws where the loss, an evaluation's
/// loss or a weight is no longer finite.
History train(Model& model, const Dataset& data, const TrainingOptions& options = {},
              const Dataset* test = nullptr, Callback* callback = nullptr);

/// The same on a data set that says itself which samples are held out: where it has a validation
/// set, that one is evaluated after every epoch (and watched by `patience`), and the test set after
/// the last one alone. Throws Error also for TrainingOptions::validation beside a validation set.
History train(Model& model, const Splits& splits, const TrainingOptions& options = {},
              Callback* callback = nullptr);

/// Loss and accuracy over a data set, in inference mode. Its classes are counted as the model's, by
/// name (with_class_names()): they may stand in another order, and some may be missing.
Evaluation evaluate(Model& model, const Dataset& data, Loss loss = Loss::automatic,
                    std::int64_t batch = 256, const LossOptions& loss_options = {});

}  // namespace linnet
