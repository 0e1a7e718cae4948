// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/augment.h>
#include <linnet/batch.h>
#include <linnet/callback.h>
#include <linnet/checkpoint.h>
#include <linnet/custom_metric.h>
#include <linnet/export.h>
#include <linnet/expression.h>
#include <linnet/lbfgs.h>
#include <linnet/loss.h>
#include <linnet/model.h>
#include <linnet/optimizer.h>
#include <linnet/ranks.h>
#include <linnet/schedule.h>
#include <linnet/state.h>
#include <linnet/whiten.h>

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
struct FleetState;
struct TrainerState;
}  // namespace linnet

LINNET_API_BEGIN
namespace linnet {

/// Computes a custom loss from an output and its targets (labels come as one-hot rows), e.g.
/// @code
/// [](const Expression& y, const Expression& t) { return mean(square(y - t)); }
/// @endcode
/// It returns one number or several for each sample; the loss is their mean.
using CustomLoss = std::function<Expression(const Expression& y, const Expression& target)>;

/// Describes the loss of one output of a network with several. The total loss sums
/// weight * loss over the outputs.
struct OutputLoss {
  std::string output;           ///< name of the output
  Loss loss = Loss::automatic;  ///< its loss
  double weight = 1;            ///< factor of its loss in the total, finite
  LossOptions options = {};     ///< options of its loss; l1 and l2 must be 0
  CustomLoss custom = {};       ///< custom loss, instead of `loss`
  /// Target of every element, instead of a column of the data set: with binary cross-entropy, 1
  /// makes all samples positive.
  std::optional<double> target = {};
};

/// Describes an exponential moving average of the weights: the first update sets it to the weights,
/// every later one to decay * average + (1 - decay) * weights. Where one is kept, fit() evaluates
/// the average, so patience, keep_best and a plateau schedule follow it, and train() leaves the
/// model with it. A Trainer's model keeps the weights themselves, which training goes on with;
/// Trainer::averaged() returns the average. Running statistics are the current ones.
struct Average {
  /// Share of the old average that an update keeps, in (0, 1), e.g. 0.999; 0: no average.
  double decay = 0;
  /// Limits the decay to (1 + n) / (10 + n) after n updates, so that the first weights lose their
  /// share soon.
  bool warmup = false;
};

/// Describes Lookahead: every `every` updates the weights go back to a point between where they are
/// and where they were the last time (Zhang et al., "Lookahead optimizer: k steps forward,
/// 1 step back", 2019). It works with every optimizer, on the parameters that train; moments and
/// running statistics stay.
struct Lookahead {
  /// Updates from one return to the next, at least 0, e.g. 5; 0: no lookahead.
  std::int64_t every = 0;
  /// Share of the way forward that a return keeps, in (0, 1]. The paper's; 1 returns nowhere.
  double alpha = 0.5;
};

/// Freezes parameters for some epochs of a fit, as Trainer::set_trains() between two epochs would,
/// with the same bits. Epochs count from the training's start, as schedules count them.
struct Freeze {
  /// Pattern of names such as "stem.weight": * stands for any characters, ? for one.
  std::string name = {};
  std::int64_t after = 0;  ///< epochs done when they stop training, at least 0
  /// Epochs done when they train again, above `after`; empty: they stay frozen to the fit's end.
  std::optional<std::int64_t> until = {};
};

/// Describes the losses that a training minimises, and how.
struct Objective {
  /// Parameters that train, by name, with their learning rates and weight decays; empty: all. A
  /// parameter that matches no group is frozen: it has no gradient, no penalty and no update. A
  /// parameter on which no loss depends is frozen too, such as those of an output without targets.
  /// A batch norm whose weight and bias are both frozen computes as at inference and keeps its
  /// running statistics. Throws Error for a pattern that matches no parameter, and before the first
  /// step for a pattern that matches only parameters on which no loss depends.
  std::vector<ParameterGroup> trains = {};
  Loss loss = Loss::automatic;    ///< loss of the first output
  LossOptions loss_options = {};  ///< options of that loss; l1 and l2 of all trained weights
  CustomLoss custom_loss = {};    ///< custom loss of the first output, instead of `loss`
  /// Losses of outputs, by name. Outputs with targets that are not named have automatic losses of
  /// weight 1.
  std::vector<OutputLoss> output_losses = {};
  Optimizer optimizer = Adam{};    ///< update rule
  Schedule schedule = Constant{};  ///< learning-rate schedule
  Warmup warmup = {};              ///< linear rise of the learning rate before the schedule
  Clip clip = {};                  ///< limits on gradients
  Average average = {};            ///< moving average of the weights
  Lookahead lookahead = {};        ///< weights that return to earlier ones
};

/// Holds one of several objectives over one network.
struct NamedObjective {
  std::string name;     ///< unique name, not empty, without '/'
  Objective objective;  ///< losses and settings of its steps
};

/// Lists the objectives of a Trainer of several. An objective's losses are those of its
/// output_losses; outputs that are not named there have none. An objective without output_losses
/// has one loss for every output with targets.
using Objectives = std::vector<NamedObjective>;

/// Holds settings for all fits of a Trainer.
struct TrainerOptions {
  std::uint64_t seed = 0;  ///< seed of shuffling, dropout, augmentation and noise
  /// Custom metrics, which fit() measures on validation and test sets, and evaluate() on its data.
  /// The Trainer throws Error for names that are empty or occur twice, and for unknown outputs.
  std::vector<CustomMetric> metrics = {};
  /// Names of graph passes to leave out, as `linnet plan` prints them; for diagnosis.
  std::vector<std::string> disabled_passes = {};
  /// Computes concatenations and activations after batch norms (on a GPU: results of batch norms) a
  /// second time where the backward pass needs them, instead of keeping them: less memory, the same
  /// bits, more time.
  bool recompute = false;
  /// Computes the parts of a batch (FitOptions::shards) at the same time instead of one after the
  /// other: the same bits, but the activations of all parts are in memory at once. On the CPU; the
  /// first step throws Error elsewhere.
  bool side_by_side = false;
  /// Lets batch norms take the statistics of the whole batch where its parts are computed at the
  /// same time, one by each rank or all `side_by_side`, as PyTorch's SyncBatchNorm does; without it
  /// they take those of each part. On the CPU; without effect where the batch is one part. The
  /// first step throws Error where a rank has several parts one after the other, or a batch fewer
  /// samples than parts.
  bool sync_batch_norm = false;
  /// On several ranks of one part each, on the CPU: bytes of gradients that are summed together
  /// while the backward pass still finds others, at least 1; those of one parameter stay together.
  /// Smaller ones begin earlier, larger ones wait for fewer messages; the result does not depend on
  /// it, but for RankReduce::fast. PyTorch's bucket_cap_mb.
  std::size_t bucket_bytes = std::size_t{4} << 20;
  /// Processes that train together: each computes its own shards of every batch, and all have the
  /// same weights after every step. They make the same calls with the same options and data, or
  /// fit() throws Error naming what differs. Only rank 0 writes checkpoints.
  Ranks ranks = {};
};

/// Describes one call of Trainer::fit().
struct FitOptions {
  std::int64_t epochs = 1;   ///< epochs to train, at least 1. Keras' default.
  std::int64_t batch = 128;  ///< samples of a batch, at least 1
  /// Parts of neighbouring samples in which a step computes its batch, one after the other, so that
  /// it needs the memory of the largest of them: a power of two; 0: one for each rank, or as many
  /// as `memory_limit` asks for. Their gradients are added in one fixed order, so the result
  /// depends on this number, but not on who computes a part. Batch norms use the statistics of each
  /// part (unless TrainerOptions::sync_batch_norm says otherwise), and mix-up pairs the samples
  /// within it.
  std::int64_t shards = 0;
  /// Bytes that the fit may need as planned (History::planned_bytes), 0: any number. It recomputes
  /// (TrainerOptions::recompute) where that is enough, else with `shards` 0 it also takes the
  /// fewest shards that fit, as History::shards says. Throws Error, naming the smallest limit that
  /// would do, where nothing fits.
  std::size_t memory_limit = 0;
  /// Validation set, evaluated after every epoch; empty: none. Dataset::split() splits one off.
  Dataset validation = {};
  Dataset test = {};  ///< test set, evaluated after the last epoch; after each without `validation`
  /// Number of epochs without an improvement of the watched number after which the fit stops (early
  /// stopping); 0: never.
  std::int64_t patience = 0;
  /// Keeps the weights of the epoch whose watched number was the best, for Trainer::best(). An
  /// epoch that a callback cuts short counts for this and for `patience` only if it is the first.
  bool keep_best = false;
  /// Number that `patience` and `keep_best` watch: by default the validation loss, else the test
  /// loss, else the training loss. E.g. {.metric = "accuracy", .better = Better::larger}.
  Watch watch = {};
  /// Parameters that do not train in some epochs, of those that train (Objective::trains), which
  /// train again after the fit. All programs are compiled before the first step. Throws Error for
  /// an entry that freezes nothing, for overlapping entries of one name, for an epoch in which
  /// nothing would train, and for LevenbergMarquardt.
  std::vector<Freeze> freeze = {};
  bool shuffle = true;  ///< shuffles the samples in each epoch
  /// Leaves out the samples after the last whole batch of each epoch; with `shuffle` these differ
  /// in each epoch.
  bool drop_last = false;
  /// Keeps the data in host memory, for data that does not fit into the device's: each batch is
  /// copied to the device while the device computes the one before. Results are the same bits. It
  /// has no effect on the CPU.
  bool streamed = false;
  /// Batches to prefetch, at least 1. It does not affect results.
  std::int64_t prefetch = 3;
  /// Threads that prefetch samples of a source (Column::source); 0: all processors. It does not
  /// affect results.
  int decoders = 0;
  Augment augment = {};          ///< random changes of the first input's images
  Checkpoints checkpoints = {};  ///< where checkpoints are written, and whether to continue one
  Callback* callback = nullptr;  ///< callback of batches, epochs and the end; must outlive the call
};

/// Refers to a step that Trainer::step() has started.
class StepResult {
 public:
  /// Returns the number of the step, counted over the training from 0.
  std::uint64_t step() const { return step_; }
  /// Waits for the step and returns its loss. The trainer keeps the losses of the newest 4096
  /// steps. Throws Error for an older step, for one before a load_state(), if the trainer no longer
  /// exists, and if the step or one before it was not finite (see Trainer::step()).
  float loss() const;

 private:
  friend class Trainer;
  StepResult(std::weak_ptr<TrainerState> trainer, std::uint64_t step, std::uint64_t loads)
      : trainer_(std::move(trainer)), step_(step), loads_(loads) {}
  std::weak_ptr<TrainerState> trainer_;
  std::uint64_t step_;
  std::uint64_t loads_;  ///< number of load_state() calls before it
};

/// Trains a model. It holds the optimizer's state and the position in the training, so a second
/// fit() continues where the first one ended: fit() for 3 epochs and for 2 give the bits of fit()
/// for 5, where the schedule has its own length. Compiled programs are kept. The model is shared:
/// evaluations and predictions use its current weights.
///
/// A shared handle, as a Model is: copies refer to the same trainer, a move copies, and no Trainer
/// is ever empty. Not thread-safe: calls take turns with everything else that uses the model.
class Trainer {
 public:
  /// Makes a trainer of one objective. Compiles nothing; the first step allocates the moments.
  /// Throws Error for an objective or metrics that do not fit the network.
  explicit Trainer(Model model, Objective objective = {}, TrainerOptions options = {});
  /// Makes a trainer of several objectives over one network, e.g. of a generator and a
  /// discriminator. Each has its own moments, schedule and count of updates. A step computes what
  /// its objective's losses need: other outputs are not run, columns that only they need are not
  /// read, and their running statistics stay. Throws as the form above does, and Error for names
  /// that are empty, equal or contain '/'.
  template <std::same_as<Objectives> O>
  Trainer(Model model, O objectives, TrainerOptions options = {})
      : Trainer(Several{}, std::move(model), std::move(objectives), std::move(options)) {}
  Trainer(const Trainer&) noexcept = default;             ///< Makes another handle of the trainer.
  Trainer& operator=(const Trainer&) noexcept = default;  ///< Refers to the other from now on.

  /// Trains for FitOptions::epochs more epochs, and returns the history. An epoch's last, smaller
  /// batch is trained on unless FitOptions::drop_last leaves it out. The first fit() of a batch
  /// size and data shapes compiles and allocates; later ones do not. Results depend on the options,
  /// the seeds and the data, not on the number of threads. Waits. Throws as train() does; Error for
  /// a trainer of several objectives, which step() trains, and within another fit of this trainer
  /// (see Callback).
  History fit(const Dataset& data, const FitOptions& options = {});

  /// Returns the batches of the training's next epoch, for a custom loop. The epoch counts as done
  /// after step() on its last batch. Stepping through all of them gives the bits of fit() for one
  /// epoch. Throws Error for options out of range, and for data without samples.
  BatchRange batches(const Dataset& data, const BatchOptions& options = {}) const;
  /// Does one step of the optimizer on a batch. On a GPU the step is only enqueued;
  /// StepResult::loss() waits for it. The first step of a batch size compiles and allocates. If the
  /// loss or a gradient is not finite, this and all later steps leave weights, moments and running
  /// statistics unchanged, until StepResult::loss() or the trainer's next look at the device (once
  /// in 256 steps) throws an Error that names the operator and the step.
  StepResult step(const Batch& batch);
  /// Does one step of one of several objectives. Throws Error for an unknown name.
  StepResult step(std::string_view objective, const Batch& batch);
  /// Does one step over several batches as if they were one, in the memory of one of them. Their
  /// gradients are added, each weighted by the batch's share of the losses' denominators (samples,
  /// or the sum of their weights). Batch norms use each batch's statistics, and the running
  /// statistics take the mean of these once. Dropout and augmentation draw as for the one large
  /// batch; mix-up pairs samples within each. Schedules count the steps of an epoch by the largest
  /// number of batches that a step has had. Throws Error unless all batches are of one epoch, in
  /// its order, without repetition.
  StepResult step(std::span<const Batch> batches);
  /// Does one step of one of several objectives over several batches.
  StepResult step(std::string_view objective, std::span<const Batch> batches);
  /// Returns the gradients of the weights that train, by name, for a batch, as the next step()
  /// would compute them. Changes neither weights nor running statistics. Waits.
  State gradients(const Batch& batch);
  /// Returns the gradients of one of several objectives.
  State gradients(std::string_view objective, const Batch& batch);
  /// Minimises the loss over all samples by L-BFGS instead of the objective's optimizer: for small
  /// networks and data. Changes the weights that train, but not moments or the position. The
  /// curvature estimate is part of state(): a second call continues if the weights are still those
  /// of the first, so 10 iterations and 10 give the bits of 20. Dropout's masks do not change.
  /// Gradients in several batches (LBFGS::batch) need a loss that is a plain mean over samples.
  /// Waits. Throws Error for a network with running statistics, for options out of range, and for a
  /// loss that is not finite at the start.
  Minimum minimize(const Dataset& data, const LBFGS& options = {});

  /// Changes which parameters train from the next step on, as Objective::trains says it; empty:
  /// all. Moments, averages and the position stay, so a parameter that trains again continues with
  /// its moments, and bias corrections count only the updates that changed it. Lookahead takes a
  /// parameter that begins to train from where it is. To continue a saved state, call this before
  /// load_state(). Compiles at the next step. Throws Error, and changes nothing, for a pattern that
  /// matches no parameter, and within a fit of this trainer.
  void set_trains(std::vector<ParameterGroup> trains);
  /// Changes which parameters one of several objectives trains.
  void set_trains(std::string_view objective, std::vector<ParameterGroup> trains);
  /// Sets the weights that train to their moving average (Objective::average), or without one to
  /// those of Lookahead's last return; training continues from there. Moments, the average itself
  /// and running statistics stay. Waits. Throws Error if neither is kept, if no step was done, and
  /// within a fit of this trainer.
  void take_average();
  /// Sets the weights that one of several objectives trains to their average.
  void take_average(std::string_view objective);

  /// Returns loss, accuracy and custom metrics over a data set, in inference mode, by the
  /// objective's losses and the model's weights. Waits. Throws the Error of an earlier step that
  /// was not finite.
  Evaluation evaluate(const Dataset& data, std::int64_t batch = 256);
  /// Returns loss, accuracy and custom metrics by the losses of one of several objectives.
  Evaluation evaluate(std::string_view objective, const Dataset& data, std::int64_t batch = 256);

  /// Returns the first output for every sample, by the current weights: Model::predict().
  Tensor predict(const Dataset& data, std::int64_t batch = 256);

  /// Returns the model.
  const Model& model() const;
  /// Returns the model.
  Model& model();
  /// Returns another model with the weights of the best epoch of the last fit with keep_best; their
  /// average where one is kept. Waits. Throws Error without one.
  Model best() const;
  /// Returns another model with the moving average of the weights (Objective::average) and the
  /// current running statistics. fit() evaluates this average; evaluate() and predict() use the
  /// model's own weights. Waits. Throws Error if no average is kept or no step was done.
  Model averaged() const;
  /// Returns another model with the moving average that one of several objectives keeps.
  Model averaged(std::string_view objective) const;

  /// Returns the number of steps done so far, of all objectives. Steps that were not finite, and
  /// those after them, count until a call that waits detects them.
  std::uint64_t steps() const;
  /// Returns the number of epochs done so far; the last one may be incomplete if a callback stopped
  /// it.
  std::int64_t epochs() const;
  /// Returns everything that the training needs to continue: weights and running statistics
  /// ("model/NAME"), moments ("optimizer/moment1/NAME"), and the position. Of several objectives,
  /// the names of moments and update counts begin with "objective/OBJECTIVE/". All are copies in
  /// host memory. Waits. Throws Error for a weight that is NaN or infinite.
  State state() const;
  /// Continues from a state that state() returned, of this or another trainer of the same network
  /// and optimizer, or from a checkpoint (read_checkpoint()): the next fit() then continues the fit
  /// that wrote it, in the middle of an epoch too, and throws Error unless data and options are the
  /// same. Waits. Throws Error, and changes nothing, for any other state.
  void load_state(const State& state);

 private:
  friend struct FleetState;
  struct Several {};
  Trainer(Several, Model model, Objectives objectives, TrainerOptions options);

  std::shared_ptr<TrainerState> state_;
};

/// Describes one call of train(). If a compiler rejects {.epoch = 1}, write train(model, data,
/// TrainingOptions{.epoch = 1}): its message then names the misspelt field.
struct TrainingOptions {
  std::int64_t epochs = 5;         ///< epochs to train, at least 1
  std::int64_t batch = 128;        ///< samples of a batch, at least 1
  std::int64_t shards = 0;         ///< parts of a batch: FitOptions::shards
  std::size_t memory_limit = 0;    ///< bytes: FitOptions::memory_limit
  Optimizer optimizer = Adam{};    ///< update rule
  Schedule schedule = Constant{};  ///< learning-rate schedule
  Warmup warmup = {};              ///< linear rise of the learning rate before it
  Clip clip = {};                  ///< limits on gradients
  Average average = {};            ///< moving average of the weights: Objective::average
  Lookahead lookahead = {};        ///< weights that return to earlier ones: Objective::lookahead
  std::vector<ParameterGroup> trains = {};  ///< parameters that train: Objective::trains
  std::vector<Freeze> freeze = {};          ///< parameters that rest some epochs: FitOptions
  /// Convolution that whiten() sets first, from the training set. A training that continues a
  /// checkpoint has its weights.
  Whiten whiten = {};
  Loss loss = Loss::automatic;    ///< loss of the first output
  LossOptions loss_options = {};  ///< options of that loss; l1 and l2 of all weights
  CustomLoss custom_loss = {};    ///< custom loss of the first output, instead of `loss`
  /// Losses of outputs, by name: Objective::output_losses.
  std::vector<OutputLoss> output_losses = {};
  std::int64_t patience = 0;  ///< early stopping: FitOptions::patience
  /// Leaves the model with the weights of the epoch whose watched number was the best, and measures
  /// the test set by them: FitOptions::keep_best, Trainer::best().
  bool keep_best = false;
  bool shuffle = true;                     ///< shuffles the samples in each epoch
  bool drop_last = false;                  ///< leaves out a smaller last batch: FitOptions
  std::uint64_t seed = 0;                  ///< seed of shuffling, dropout, augmentation and noise
  bool streamed = false;                   ///< keeps the data in host memory: FitOptions
  std::int64_t prefetch = 3;               ///< batches to prefetch: FitOptions
  int decoders = 0;                        ///< threads that prefetch; 0: all processors
  Augment augment = {};                    ///< random changes of the first input's images
  Checkpoints checkpoints = {};            ///< checkpoints, and continuing one: FitOptions
  std::vector<CustomMetric> metrics = {};  ///< custom metrics: TrainerOptions::metrics
  /// Names of graph passes to leave out, as `linnet plan` prints them; for diagnosis.
  std::vector<std::string> disabled_passes = {};
  bool recompute = false;  ///< less memory for more time: TrainerOptions::recompute
  /// Parts of a batch at the same time: TrainerOptions::side_by_side.
  bool side_by_side = false;
  /// Statistics of the whole batch: TrainerOptions::sync_batch_norm.
  bool sync_batch_norm = false;
  /// Bytes of gradients that ranks sum together: TrainerOptions::bucket_bytes.
  std::size_t bucket_bytes = std::size_t{4} << 20;
  Ranks ranks = {};  ///< processes that train together: TrainerOptions::ranks
};

/// Trains `model` on `data`, and returns the history. An epoch's last, smaller batch is trained
/// on unless TrainingOptions::drop_last leaves it out. `test` is evaluated after every epoch.
/// Compiles and allocates for the first training of these shapes and options. Results depend on the
/// options, the seeds and the data, not on the number of threads. Waits.
///
/// Before the first step it throws Error for options out of range; DataError for data that do not
/// fit the network, for samples or targets that are NaN or infinite, for ids outside an embedding,
/// and for labels that are all ignored; Error for a batch, the last one too, that gives a batch
/// norm a single value per channel, whose variance is undefined (PyTorch refuses it as well);
/// OutOfMemory if the training does not fit. Later it throws Error if the loss, an evaluation's
/// loss or a weight is not finite, and DeviceError if the device fails.
History train(Model& model, const Dataset& data, const TrainingOptions& options = {},
              const Dataset* test = nullptr, Callback* callback = nullptr);

/// Trains `model` on the training set of `splits`. A validation set is evaluated after every epoch
/// (and watched by `patience`), and the test set after the last one; without a validation set the
/// test set is evaluated after every epoch. It is otherwise the same as the form above.
History train(Model& model, const Splits& splits, const TrainingOptions& options = {},
              Callback* callback = nullptr);

/// Returns loss and accuracy over a data set, in inference mode. The data's classes are matched
/// with the model's by name (with_class_names()): they may be in another order, and some may be
/// missing. The first call for these shapes compiles and allocates. Waits. Throws DataError for
/// data that do not fit the network.
Evaluation evaluate(Model& model, const Dataset& data, Loss loss = Loss::automatic,
                    std::int64_t batch = 256, const LossOptions& loss_options = {});

/// Returns loss and accuracy of outputs that are averaged over several views of each image
/// (Model::with_views()), and beside them, in Evaluation::one_view, those of one view. Copies the
/// weights and compiles at each call: where it is called often, evaluate a model with views. Waits.
/// Throws as evaluate() and Network::with_views() do.
Evaluation evaluate_views(Model& model, const Dataset& data, const TestViews& views,
                          Loss loss = Loss::automatic, std::int64_t batch = 256,
                          const LossOptions& loss_options = {});

}  // namespace linnet
LINNET_API_END
