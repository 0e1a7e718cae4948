// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/training_counters.h"
#include "train/fit_state.h"
#include "train/host_schedule.h"
#include "train/lbfgs.h"
#include "train/levenberg_marquardt/levenberg_marquardt.h"
#include "train/stepper.h"

namespace linnet {

/// State of one objective of a trainer: the optimizer's memory and its place in the
/// schedule.
struct ObjectiveState {
  /// name: empty for the only one. shared: of the trainer; room for the moments is added.
  ObjectiveState(std::string name, std::shared_ptr<ModelState> trained, Objective aim,
                 std::shared_ptr<OptimizerMemory> shared);
  ~ObjectiveState();
  ObjectiveState(const ObjectiveState&) = delete;
  ObjectiveState& operator=(const ObjectiveState&) = delete;

  const NetworkDefinition& network() const { return model->definition(); }
  /// Returns the objective's losses, and nothing else.
  TrainingOptions losses(const Augment& augment = {}) const;
  /// Returns the same for data that are held out: normalized by the training set's targets where
  /// one was read.
  TrainingOptions held_out_losses(const Augment& augment = {}) const;
  /// Returns the objective's losses over a training set, whose targets normalize
  /// held_out_losses() from now on.
  StepData read(const Dataset& data, const Augment& augment = {});
  /// Returns what the objective's output_losses say of outputs that they don't name.
  LossesOf losses_of() const;
  /// Returns the optimizer, with a schedule of `length` epochs unless it has a length of its own.
  OptimizerAttrs optimizer(std::int64_t length, std::int64_t steps_of_epoch) const;
  /// Returns the same, of the parameters that the losses over `data` reach. Throws Error for a
  /// group of which they reach none.
  OptimizerAttrs optimizer(std::int64_t length, std::int64_t steps_of_epoch,
                           const StepData& data) const;
  /// Returns the same for other groups that train, of parameters that left out so many updates.
  OptimizerAttrs optimizer(std::int64_t length, std::int64_t steps_of_epoch, const StepData& data,
                           const std::vector<ParameterGroup>& trains,
                           const std::vector<std::int64_t>& without) const;
  /// Returns the moving average of the weights that the objective asks for.
  WeightAverage average() const;
  /// Returns the weights that the objective asks to be taken back to.
  WeightLookahead lookahead() const;
  /// Trainer::set_trains(). Throws Error, and changes nothing, for a pattern that matches nothing.
  void set_trains(std::vector<ParameterGroup> trains);
  /// Returns, by parameter, how many of the updates done so far did not change it; empty: the
  /// parameters that train never changed.
  std::vector<std::int64_t> updates_left_out() const;
  /// Takes what a state says of that.
  void load_left_out(const State& state);
  /// Returns the average of the weights, or Lookahead's where no average is kept; of parameters for
  /// which neither is kept, nothing. Waits.
  State kept_weights();
  /// Arrays of moments, lookahead's weights and the average among them.
  std::size_t arrays() const;
  /// Returns where array `m` of these begins in the trainer's memory.
  std::size_t array_at(std::size_t m) const;
  /// Allocates `averaged` where an average is kept.
  void allocate_averaged_memory();
  /// Copies the average there, if it was allocated. Waits.
  void fill_averaged_memory();
  /// Returns the weights that the objective trains, by name. Waits.
  State trained_weights() const;
  /// Returns the trainer's memory of counters and moments, all zero until the first
  /// step, but for the scales of losses.
  Buffer& optimizer_memory();
  /// Returns what a LossScaleOp keeps, f32 (kLossScaleSize). Waits.
  Tensor loss_scale();
  /// Changes the scale alone.
  void set_loss_scale(float scale);
  /// Moments, updates and what the schedule remembers, by the names of a single objective's.
  State state();
  /// Of a state() of the same names and shapes. Throws Error, and changes nothing, for counts that
  /// are none.
  void load(const State& state);

  std::string name;
  std::shared_ptr<ModelState> model;
  Objective objective;
  std::vector<OutputLoss> normalized = {};  ///< by the training set's targets, as mse
  HostSchedule schedule;
  std::string key;  ///< begins the keys of programs that are this objective's alone
  std::shared_ptr<TrainingMemory> memory = std::make_shared<TrainingMemory>();
  std::shared_ptr<Buffer> averaged = nullptr;  ///< that fit() evaluates, laid out as the weights
  std::size_t moments = 0;                     ///< where they begin in the trainer's memory
  std::uint64_t updates = 0;                   ///< done so far
  std::vector<std::int64_t> left_out = {};     ///< updates_left_out() when `left_out_at` were done
  std::uint64_t left_out_at = 0;
  LbfgsMemory curvature = {};  ///< of minimize()
  State minimum = {};          ///< the weights at which that was
  Damping damping = {};        ///< of LevenbergMarquardt
  std::unique_ptr<Stepper> stepper = nullptr;
  std::unique_ptr<Stepper> differentiator = nullptr;
};

/// Name of ObjectiveState::updates_left_out() in a state.
inline constexpr const char* kLeftOut = "optimizer/left_out";
/// Returns what a state of so many `updates` says of that; empty where it says nothing. Throws
/// Error unless there is a count of at most `updates` for each of `parameters`.
std::vector<std::int64_t> left_out_of(const State& state, const std::string& prefix,
                                      std::size_t parameters, std::uint64_t updates);

/// State of a Trainer: a model, objectives, and its progress.
struct TrainerState {
  TrainerState(Model trained, Objectives aims, TrainerOptions how);

  ModelState& state() { return model.state(); }
  const ModelState& state() const { return model.state(); }
  const NetworkDefinition& network() const { return model.state().definition(); }
  /// Returns the one objective. Throws Error for several: `call` names one then.
  ObjectiveState& only(std::string_view call);
  /// Returns one of several. Throws Error for an unknown name.
  ObjectiveState& named(std::string_view name);
  /// Throws Error if a step met something that was not finite, naming the operator and the step;
  /// the training is then where it was before that step. Waits.
  void check_finite() { check_finite(stopped_step(state(), *memory)); }
  void check_finite(std::optional<std::uint64_t> stopped);
  /// Throws Error for a weight that is NaN or infinite. Waits.
  void check_weights();
  /// Within fit(): adds the epoch and the operator to a step of it.
  std::function<void(NotFinite&)> explain = nullptr;

  Model model;
  TrainerOptions options;
  std::shared_ptr<OptimizerMemory> memory = std::make_shared<OptimizerMemory>();
  std::vector<std::unique_ptr<ObjectiveState>> objectives;
  const char* running = nullptr;  ///< the call that holds a Turn
  std::uint64_t steps = 0;        ///< of all objectives
  std::int64_t epochs = 0;
  std::uint64_t loads = 0;         ///< of states so far: step numbers are those of the last one
  std::optional<State> best = {};  ///< weights
  /// Of a checkpoint that was loaded: the fit that the next fit() continues.
  std::optional<FitState> stopped_fit = {};
};

/// Trainer::state(), without a look at whether all is finite.
State state_of(TrainerState& trainer);
/// Says what a trainer has done.
struct Position {
  std::int64_t epochs = 0;
  std::uint64_t steps = 0;
};
/// Returns the position in a state(). Throws Error for entries that are no counts.
Position position_of(const State& state);
/// Trainer::load_state(), which holds a Turn.
void load(TrainerState& trainer, const State& state);

/// Returns the model's weights and running statistics, the weights averaged where the objective
/// keeps an average. Waits.
State averaged_weights(TrainerState& trainer, ObjectiveState& objective);

/// One call that moves a trainer on, at a time: callbacks and a user's functions are called in the
/// middle of one.
class Turn {
 public:
  /// Throws Error where another one is running.
  Turn(TrainerState& trainer, const char* call);
  ~Turn() { trainer_.running = nullptr; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  TrainerState& trainer_;
};

/// Notes in the model what its weights learned from: class names, the loss.
void record_training(Model& model, const Dataset& data, const StepData& steps);

/// Told of a step that was done, by its number.
using OnStep = std::function<void(std::uint64_t step)>;

/// Trainer::fit(); on_step is called where the callback may hear of it.
History fit(TrainerState& trainer, const Dataset& data, const FitOptions& options,
            const OnStep& on_step);

}  // namespace linnet
