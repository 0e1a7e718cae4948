// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/augment.h>
#include <linnet/batch.h>
#include <linnet/callback.h>
#include <linnet/custom_metric.h>
#include <linnet/export.h>
#include <linnet/expression.h>
#include <linnet/lbfgs.h>
#include <linnet/loss.h>
#include <linnet/model.h>
#include <linnet/optimizer.h>
#include <linnet/schedule.h>
#include <linnet/state.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {
struct TrainerState;
}

LINNET_API_BEGIN
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
  /// The target of every element, instead of a column of the data set: 1 says that all samples are
  /// of the one class that binary cross-entropy knows.
  std::optional<double> target = {};
};

/// An exponential moving average of the weights: after each update it becomes decay * average +
/// (1 - decay) * weights; after the first one it is the weights.
struct Average {
  double decay = 0;  ///< in (0, 1), such as 0.999; 0: none is kept
  /// Limits the decay of the update that n others precede to (1 + n) / (10 + n), so that the first
  /// weights are soon forgotten.
  bool warmup = false;
};

/// What a training makes small, and how.
struct Objective {
  /// The parameters that train, by name, with their learning rates and weight decays; empty: all.
  /// What matches no group is frozen: it has no gradient, no penalty and no update. So is what no
  /// loss depends on, such as the layers of an output without targets. A batch norm that is frozen
  /// whole (weight and bias) computes as at inference and keeps its running statistics. Throws
  /// Error for a pattern that matches no parameter, and before the first step for one of whose
  /// parameters no loss depends on any.
  std::vector<ParameterGroup> trains = {};
  Loss loss = Loss::automatic;    ///< of the first output
  LossOptions loss_options = {};  ///< of the first output; l1 and l2 of the network
  CustomLoss custom_loss = {};    ///< of the first output, instead of `loss`
  /// Losses and weights of outputs, by name; those with targets and not named here have automatic
  /// losses of weight 1.
  std::vector<OutputLoss> output_losses = {};
  Optimizer optimizer = Adam{};
  Schedule schedule = Constant{};  ///< of the learning rate
  Warmup warmup = {};              ///< before the schedule
  Clip clip = {};                  ///< of gradients
  Average average = {};            ///< of the weights, for Trainer::averaged()
};

/// One of several objectives over one network.
struct NamedObjective {
  std::string name;  ///< of one letter or more, without '/'
  Objective objective;
};

/// For a Trainer of several objectives. The losses of each are those of its output_losses; outputs
/// that are not named there have none. Of an objective without output_losses they are what they
/// would be of a single one: every output with targets has a loss.
using Objectives = std::vector<NamedObjective>;

struct TrainerOptions {
  std::uint64_t seed = 0;  ///< of shuffling, dropout and augmentation
  /// Measured by fit() on validation and test sets, and by evaluate(). Throws Error from the
  /// Trainer for names that are empty or stand there twice, and outputs that are not there.
  std::vector<CustomMetric> metrics = {};
  /// Graph passes to leave out, by name as `linnet plan` prints them; for diagnosis.
  std::vector<std::string> disabled_passes = {};
};

/// One call of Trainer::fit().
struct FitOptions {
  std::int64_t epochs = 1;
  std::int64_t batch = 128;
  /// Batches of one update, as in Trainer::step() over several; the last update of an epoch has the
  /// batches that are left.
  std::int64_t accumulate = 1;
  /// Evaluated after every epoch; empty: none. Dataset::split() holds out a share of the data.
  Dataset validation = {};
  Dataset test = {};  ///< evaluated after the last epoch, or after every one without `validation`
  /// Stops when what is watched has not improved for so many epochs; 0: never.
  std::int64_t patience = 0;
  /// Keeps the weights of the epoch in which what is watched was the best, for Trainer::best().
  bool keep_best = false;
  /// What `patience` and `keep_best` look at: the validation (or else test, or else training) loss,
  /// or another number, such as {.metric = "accuracy", .better = Better::larger}.
  Watch watch = {};
  bool shuffle = true;
  /// Leaves out of each epoch the samples beyond its last whole batch; with `shuffle` other ones
  /// every time.
  bool drop_last = false;
  /// Leaves the data in host memory: each batch is copied to the device while that computes the one
  /// before. The same results to the bit; for data that don't fit. Changes nothing on the CPU,
  /// which reads host memory.
  bool streamed = false;
  /// Batches that are copied or read ahead of the training, at least 1. Results don't depend on it.
  std::int64_t prefetch = 3;
  /// Threads that read ahead where samples come from files (Column::source); 0: all processors.
  /// Results don't depend on it.
  int decoders = 0;
  Augment augment = {};          ///< of the first input's images
  Callback* callback = nullptr;  ///< is told of batches, epochs and the end; must outlive the call
};

/// A step that Trainer::step() has begun.
class StepResult {
 public:
  std::uint64_t step() const { return step_; }  ///< counted over the training, from 0
  /// Waits for the step and returns its loss. Losses of the newest 4096 steps are kept; throws
  /// Error for an older one, for one before a load_state(), and where the trainer is gone.
  float loss() const;

 private:
  friend class Trainer;
  StepResult(std::weak_ptr<TrainerState> trainer, std::uint64_t step, std::uint64_t loads)
      : trainer_(std::move(trainer)), step_(step), loads_(loads) {}
  std::weak_ptr<TrainerState> trainer_;
  std::uint64_t step_;
  std::uint64_t loads_;  ///< the trainer's load_state() before it
};

/// Trains a model: holds the optimizer's state and the position in the training, so that a second
/// fit() goes on where the first one ended, to the bit: fit(3 epochs) and fit(2 epochs) are fit(5
/// epochs), where the schedule's length is given and not the fit's. What is compiled once stays
/// compiled. Shares the model: evaluations and predictions see the weights as they are. Calls take
/// turns with all else that uses the model: not thread-safe. A shared handle, as a Model is: copies
/// are the same trainer, a move copies, and no Trainer is ever empty.
class Trainer {
 public:
  /// Throws Error for an objective that does not fit the network.
  explicit Trainer(Model model, Objective objective = {}, TrainerOptions options = {});
  /// Several objectives over one network, e.g. of a generator and a discriminator. Each has its own
  /// moments, schedule and count of updates. A step computes what its objective's losses need:
  /// other outputs are not run, columns that they alone need are not read, and their running
  /// statistics stay. Throws Error for names that are empty, equal or contain '/'.
  template <std::same_as<Objectives> O>
  Trainer(Model model, O objectives, TrainerOptions options = {})
      : Trainer(Several{}, std::move(model), std::move(objectives), std::move(options)) {}
  Trainer(const Trainer&) noexcept = default;
  Trainer& operator=(const Trainer&) noexcept = default;

  /// Trains for so many epochs more. The last incomplete batch of an epoch is trained on as it is,
  /// unless FitOptions::drop_last leaves it out. Results depend on the options, the seeds and the
  /// data alone, not on threads. Throws as train() does, for a trainer of several objectives, which
  /// step() trains, and within another fit of this trainer (see Callback).
  History fit(const Dataset& data, const FitOptions& options = {});

  /// The batches of the training's next epoch, for a loop of one's own. The epoch counts as done
  /// when its last batch was given to step(). Stepping through all of them is fit() for one epoch,
  /// to the bit.
  BatchRange batches(const Dataset& data, const BatchOptions& options = {}) const;
  /// One step of the optimizer on a batch. On a GPU it is only enqueued. Where the loss or a
  /// gradient is not finite, weights, moments and running statistics stay as they are, then and in
  /// all later steps, until StepResult::loss() or the training's next look at the device (once in
  /// 256 steps) throws an Error that names the operator and the step.
  StepResult step(const Batch& batch);
  /// The same of one of several objectives. Throws Error for an unknown name.
  StepResult step(std::string_view objective, const Batch& batch);
  /// One step over several batches of a data set, as if they were one: their gradients are added,
  /// each with its share of what the losses divide by (samples, or what weighs and ignores labels),
  /// and memory is that of one batch. Batch norms take the statistics of each batch; the running
  /// ones take the mean of these once. Dropout and augmentation are those of the one batch, mix-up
  /// pairs the samples of each. Throws Error unless all are of one epoch, in its order, none of
  /// them twice. To schedules an epoch has as many steps as its batches make at the most batches
  /// that a step has had.
  StepResult step(std::span<const Batch> batches);
  StepResult step(std::string_view objective, std::span<const Batch> batches);
  /// The gradients of the weights that train, by name, for a batch as step() would see it next.
  /// Changes neither weights nor running statistics. Waits.
  State gradients(const Batch& batch);
  State gradients(std::string_view objective, const Batch& batch);
  /// Minimises the loss over all samples by L-BFGS, instead of the objective's optimizer: for small
  /// networks and data. Changes the weights that train, neither moments nor the position. The
  /// estimate of the curvature is part of state(): a second call goes on with it where the weights
  /// are those that the first one left, so that 10 iterations and 10 are 20, to the bit. Gradients
  /// of several batches (LBFGS::batch) make that of all where the loss is a plain mean over
  /// samples. Dropout's masks stay the same. Waits. Throws Error for a network with running
  /// statistics, which no gradient says how to change, and where the loss is not finite at the
  /// start.
  Minimum minimize(const Dataset& data, const LBFGS& options = {});

  /// Loss, accuracy and the trainer's metrics over a data set, in inference mode, by the
  /// objective's losses. Waits. Throws the Error of a step that was not finite before.
  Evaluation evaluate(const Dataset& data, std::int64_t batch = 256);
  Evaluation evaluate(std::string_view objective, const Dataset& data, std::int64_t batch = 256);

  /// The first output for every sample, by the weights as they are: Model::predict().
  Tensor predict(const Dataset& data, std::int64_t batch = 256);

  const Model& model() const;
  Model& model();
  /// A model of its own with the weights of the best epoch of the last fit with keep_best. Throws
  /// Error where none was kept.
  Model best() const;
  /// A model of its own with the moving average of the weights (Objective::average) and the running
  /// statistics as they are now. Evaluations, also fit()'s, are those of the weights themselves.
  /// Throws Error where none is kept or no step was done. Waits.
  Model averaged() const;
  /// Of what one of several objectives trains.
  Model averaged(std::string_view objective) const;

  // Steps that were not finite, and those after, count until a call that waits has met them.
  std::uint64_t steps() const;  ///< done so far, of all objectives
  std::int64_t epochs() const;  ///< done so far; the last one in part where a callback stopped it
  /// Everything that a training needs to go on: weights and running statistics ("model/NAME"),
  /// moments ("optimizer/moment1/NAME"), and the position. Several objectives have the names of
  /// their moments and updates begin with "objective/OBJECTIVE/". Copies in host memory; waits.
  /// Throws Error where a weight is NaN or infinite.
  State state() const;
  /// Goes on from there. Throws Error, and changes nothing, for a state of another network or
  /// optimizer.
  void load_state(const State& state);

 private:
  struct Several {};
  Trainer(Several, Model model, Objectives objectives, TrainerOptions options);

  std::shared_ptr<TrainerState> state_;
};

/// Braces alone, train(model, data, {.epoch = 1}), leave the compiler to say no more than "no
/// matching function"; with the type, TrainingOptions{.epoch = 1}, it names the field and the one
/// that was meant.
struct TrainingOptions {
  std::int64_t epochs = 5;
  std::int64_t batch = 128;
  Optimizer optimizer = Adam{};
  Schedule schedule = Constant{};           ///< of the learning rate
  Warmup warmup = {};                       ///< before the schedule
  Clip clip = {};                           ///< of gradients
  std::vector<ParameterGroup> trains = {};  ///< as Objective::trains
  Loss loss = Loss::automatic;              ///< of the first output
  LossOptions loss_options = {};            ///< of the first output; l1 and l2 of the network
  CustomLoss custom_loss = {};              ///< of the first output, in the loss's place
  /// Losses and weights of outputs, by name; those with targets and not named here have automatic
  /// losses of weight 1.
  std::vector<OutputLoss> output_losses = {};
  std::int64_t patience = 0;  ///< as FitOptions::patience
  bool shuffle = true;
  /// Leaves out of each epoch the samples beyond its last whole batch; with `shuffle` other ones
  /// every time.
  bool drop_last = false;
  std::uint64_t seed = 0;                  ///< of shuffling, dropout and augmentation
  bool streamed = false;                   ///< as FitOptions::streamed
  std::int64_t prefetch = 3;               ///< as FitOptions::prefetch
  int decoders = 0;                        ///< as FitOptions::decoders
  Augment augment = {};                    ///< of the first input's images
  std::vector<CustomMetric> metrics = {};  ///< as TrainerOptions::metrics
  /// Graph passes to leave out, by name as `linnet plan` prints them; for diagnosis.
  std::vector<std::string> disabled_passes = {};
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
/// the last one alone.
History train(Model& model, const Splits& splits, const TrainingOptions& options = {},
              Callback* callback = nullptr);

/// Loss and accuracy over a data set, in inference mode. Its classes are counted as the model's, by
/// name (with_class_names()): they may stand in another order, and some may be missing.
Evaluation evaluate(Model& model, const Dataset& data, Loss loss = Loss::automatic,
                    std::int64_t batch = 256, const LossOptions& loss_options = {});

}  // namespace linnet
LINNET_API_END
