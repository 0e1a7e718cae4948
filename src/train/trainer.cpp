// SPDX-License-Identifier: Apache-2.0
#include <linnet/intervals.h>
#include <linnet/trainer.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/check.h"
#include "core/align.h"
#include "describe/nearest.h"
#include "model/custom_metrics.h"
#include "model/muon.h"
#include "model/options.h"
#include "model/output_form.h"
#include "train/recipes.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

constexpr std::string_view kModel = "model/";
constexpr const char* kUpdates = "updates";  // of one of several objectives
const std::string kAverage = "average/";
const std::string kLookahead = "lookahead/";

/// Keys of programs that no other trainer asks for.
std::string unique_key() {
  static std::atomic<std::uint64_t> made{0};
  return fmt::format("trainer {} ", ++made);
}

Tensor counter(std::uint64_t value) {
  return Tensor(std::vector<std::int64_t>{static_cast<std::int64_t>(value)}, Shape{});
}

std::uint64_t counted(const State& state, std::string_view name) {
  const Tensor& value = state[name];
  require(value.dtype() == DType::i64 && value.elements() == 1 && value.item<std::int64_t>() >= 0,
          "expected a count as '{}'; got {}", name, to_string(value));
  return static_cast<std::uint64_t>(value.item<std::int64_t>());
}

std::string moment_name(std::size_t moment, const std::string& parameter) {
  return fmt::format("optimizer/moment{}/{}", moment + 1, parameter);
}

/// Returns, by parameter, whether Muon updates it as a matrix where it trains: what a state holds
/// does not depend on what rests.
std::vector<bool> matrices_of(const ObjectiveState& objective) {
  Objective whole = objective.objective;
  whole.trains.clear();
  OptimizerAttrs every = resolve(whole, 1, 1);
  add_parameters(every, objective.network(), whole);
  return updated_as_matrices(objective.network(), every);
}

/// Calls f(name, spec, offset) for every moment of the objective's optimizer: of several objectives
/// each has moments of what it trains alone, unless that has changed.
template <class F>
void for_moments(const ObjectiveState& objective, const F& f) {
  const NetworkDefinition& network = objective.network();
  const OptimizerAttrs optimizer = objective.optimizer(1, 1);
  const std::vector<bool> trains = trained_parameters(network, optimizer);
  const auto count = static_cast<std::size_t>(moments(optimizer.settings.rule));
  const std::vector<bool> matrices = matrices_of(objective);
  for (std::size_t m = 0; m < objective.arrays(); ++m) {
    for (std::size_t i = 0; i < network.parameters.size(); ++i) {
      const ParameterSpec& spec = network.parameters[i];
      if (!spec.trainable) continue;
      if (!objective.name.empty() && !trains[i] && objective.left_out.empty()) continue;
      if (m == 1 && m < count && matrices[i]) continue;  // a direction, which each step makes anew
      const bool looks_ahead = m == count && objective.lookahead().every > 0;
      f(m < count ? moment_name(m, spec.name) : (looks_ahead ? kLookahead : kAverage) + spec.name,
        spec, objective.array_at(m) + spec.offset);
    }
  }
}

/// Returns where an objective's part of the state begins.
std::string state_prefix(const ObjectiveState& objective) {
  return objective.name.empty() ? "" : fmt::format("objective/{}/", objective.name);
}

void check_names(const Objectives& objectives) {
  require(!objectives.empty(), "expected an objective for a trainer; got none");
  for (const NamedObjective& one : objectives) {
    require(!one.name.empty() && one.name.find('/') == std::string::npos,
            "expected a name without '/' for each objective; got '{}'", one.name);
    require(std::ranges::count(objectives, one.name, &NamedObjective::name) == 1,
            "expected different names of objectives; two are called '{}'", one.name);
  }
}

constexpr const char* kScale = "optimizer/loss_scale";

/// Returns whether an entry may be in one state and not in another: what L-BFGS remembers, a
/// damping, a fit, the loss's scale, of trainings in fp16, and the updates that parameters left
/// out.
bool is_optional(std::string_view name) {
  return name.starts_with(LbfgsMemory::kPrefix) || name.starts_with(Damping::kPrefix) ||
         name.starts_with(FitState::kPrefix) || name.ends_with(kScale) || name.ends_with(kLeftOut);
}

/// Returns the loss's scale of a state, a first one where it has none. Throws Error unless it is a
/// power of two with counts.
Tensor scale_of(const State& state, const std::string& prefix = "") {
  const Tensor* found = state.find(prefix + kScale);
  if (found == nullptr) {
    return {std::vector<float>{kFirstLossScale, 0, 0}, Shape{kLossScaleSize}};
  }
  Tensor scale = found->to_host();
  bool fits = scale.dtype() == DType::f32 && scale.shape() == Shape{kLossScaleSize};
  if (fits) {
    const std::span<const float> values = scale.as<float>();
    int exponent = 0;
    fits = values[0] >= kLeastLossScale && values[0] <= kMostLossScale &&
           std::frexp(values[0], &exponent) == 0.5F && values[1] >= 0 && values[2] >= 0;
  }
  require(fits, "expected a power of two from 2^-14 to 2^32 and two counts as '{}'; got {}", kScale,
          to_string(scale));
  return scale;
}

/// Of a state that is to be loaded, what the trainer has; names and shapes must agree.
void check_state(const State& now, const State& loaded) {
  for (const auto& [name, value] : now) {
    if (is_optional(name)) continue;
    const Tensor* other = loaded.find(name);
    require(other != nullptr, "the state has no entry '{}'", name);
    require(other->dtype() == value.dtype() && other->shape() == value.shape(),
            "the state has {} {} as '{}'; expected {} {}", to_string(other->dtype()),
            to_string(other->shape()), name, to_string(value.dtype()), to_string(value.shape()));
  }
  for (const auto& [name, value] : loaded) {
    if (is_optional(name)) continue;
    require(now.find(name) != nullptr, "the state has the unknown entry '{}'", name);
  }
}

}  // namespace

ObjectiveState::ObjectiveState(std::string called, std::shared_ptr<ModelState> trained,
                               Objective aim, std::shared_ptr<OptimizerMemory> shared)
    : name(std::move(called)),
      model(std::move(trained)),
      objective(std::move(aim)),
      schedule(objective.schedule),
      key(unique_key()) {
  static_cast<void>(optimizer(1, 1));  // which checks its numbers
  description_of<Average>().check(&objective.average, "");
  description_of<Lookahead>().check(&objective.lookahead, "");
  moments = std::max(shared->bytes + kLossScaleBytes, kMomentsOffset);
  shared->scales.push_back(moments - kLossScaleBytes);
  shared->bytes = array_at(arrays());
  memory->optimizer = std::move(shared);
}

ObjectiveState::~ObjectiveState() { model->programs->forget(key); }

TrainingOptions ObjectiveState::losses(const Augment& augment) const {
  return {.loss = objective.loss,
          .loss_options = objective.loss_options,
          .custom_loss = objective.custom_loss,
          .output_losses = objective.output_losses,
          .augment = augment};
}

TrainingOptions ObjectiveState::held_out_losses(const Augment& augment) const {
  TrainingOptions options = losses(augment);
  for (const OutputLoss& loss : normalized) {
    std::erase_if(options.output_losses,
                  [&](const OutputLoss& own) { return own.output == loss.output; });
    options.output_losses.push_back(loss);
  }
  return options;
}

StepData ObjectiveState::read(const Dataset& data, const Augment& augment) {
  StepData found = step_data(network(), data, losses(augment), losses_of());
  normalized.clear();
  for (const TargetLoss& target : found.targets) {
    const std::vector<OutputLoss>& own = objective.output_losses;
    const auto named = std::ranges::find(own, target.how.output, &OutputLoss::output);
    const Loss loss = named != own.end()   ? named->loss
                      : target.output == 0 ? objective.loss
                                           : Loss::automatic;
    if (loss == Loss::normalized_squared_error && !target.how.custom) {
      normalized.push_back(target.how);
    }
  }
  return found;
}

LossesOf ObjectiveState::losses_of() const {
  const bool named = !name.empty() && !objective.output_losses.empty();
  return named ? LossesOf::names : LossesOf::targets;
}

OptimizerAttrs ObjectiveState::optimizer(std::int64_t length, std::int64_t steps_of_epoch) const {
  OptimizerAttrs attrs = resolve(objective, length, steps_of_epoch);
  add_parameters(attrs, network(), objective, {}, {}, updates_left_out());
  return attrs;
}

OptimizerAttrs ObjectiveState::optimizer(std::int64_t length, std::int64_t steps_of_epoch,
                                         const StepData& data) const {
  return optimizer(length, steps_of_epoch, data, objective.trains, updates_left_out());
}

OptimizerAttrs ObjectiveState::optimizer(std::int64_t length, std::int64_t steps_of_epoch,
                                         const StepData& data,
                                         const std::vector<ParameterGroup>& trains,
                                         const std::vector<std::int64_t>& without) const {
  Objective of = objective;
  of.trains = trains;
  OptimizerAttrs attrs = resolve(of, length, steps_of_epoch);
  add_parameters(attrs, network(), of, reached_parameters(network(), data), name, without);
  return attrs;
}

WeightAverage ObjectiveState::average() const {
  return {objective.average.decay, objective.average.warmup};
}

WeightLookahead ObjectiveState::lookahead() const {
  return {objective.lookahead.every, objective.lookahead.alpha};
}

std::size_t ObjectiveState::arrays() const {
  const auto count = static_cast<std::size_t>(linnet::moments(optimizer(1, 1).settings.rule));
  return count + (objective.lookahead.every > 0 ? 1 : 0) + (objective.average.decay > 0 ? 1 : 0);
}

std::size_t ObjectiveState::array_at(std::size_t m) const {
  return moments + m * align_up(network().bytes(true));
}

State ObjectiveState::trained_weights() const {
  const std::vector<bool> trains = trained_parameters(network(), optimizer(1, 1));
  const Model handle(model);
  State weights;
  for (std::size_t i = 0; i < trains.size(); ++i) {
    const std::string& weight = network().parameters[i].name;
    if (trains[i]) weights.set(weight, handle.parameter(weight));
  }
  return weights;
}

void ObjectiveState::allocate_averaged_memory() {
  if (objective.average.decay == 0 || averaged != nullptr) return;
  averaged = model->backend->allocate(model->parameters->bytes());
}

void ObjectiveState::fill_averaged_memory() {
  if (averaged == nullptr) return;
  std::vector<std::byte> weights(network().bytes(true));
  model->backend->download(optimizer_memory(), array_at(arrays() - 1), weights);
  model->backend->upload(*averaged, 0, weights);
  ++model->weights_version;  // programs that read it derive from it again
}

Buffer& ObjectiveState::optimizer_memory() {
  OptimizerMemory& shared = *memory->optimizer;
  if (shared.buffer == nullptr) shared.allocate(*model->backend, shared.bytes);
  return *shared.buffer;
}

Tensor ObjectiveState::loss_scale() {
  Tensor scale(DType::f32, Shape{kLossScaleSize});
  model->backend->download(optimizer_memory(), moments - kLossScaleBytes, scale.writable_bytes());
  return scale;
}

void ObjectiveState::set_loss_scale(float scale) {
  model->backend->upload(optimizer_memory(), moments - kLossScaleBytes,
                         std::as_bytes(std::span(&scale, 1)));
}

State ObjectiveState::state() {
  State state;
  if (scales_loss(*model)) state.set(kScale, loss_scale());
  for_moments(*this, [&](std::string moment, const ParameterSpec& spec, std::size_t offset) {
    Tensor values(spec.dtype, spec.shape);
    model->backend->download(optimizer_memory(), offset, values.writable_bytes());
    state.set(std::move(moment), std::move(values));
  });
  if (!name.empty()) state.set(kUpdates, counter(updates));
  if (!left_out.empty()) state.set(kLeftOut, Tensor(updates_left_out()));
  schedule.save(state);
  if (!curvature.empty() && same_bits(minimum, trained_weights())) curvature.save(state);
  damping.save(state);
  return state;
}

void ObjectiveState::load(const State& state) {
  if (scales_loss(*model)) {
    model->backend->upload(optimizer_memory(), moments - kLossScaleBytes, scale_of(state).bytes());
  }
  if (!name.empty()) updates = counted(state, kUpdates);
  load_left_out(state);
  schedule.load(state);
  curvature = LbfgsMemory::of(state);
  minimum = curvature.empty() ? State() : trained_weights();
  damping = Damping::of(state);
  for_moments(*this, [&](const std::string& moment, const ParameterSpec&, std::size_t offset) {
    model->backend->upload(optimizer_memory(), offset, state[moment].to_host().bytes());
  });
}

TrainerState::TrainerState(Model trained, Objectives aims, TrainerOptions how)
    : model(std::move(trained)), options(std::move(how)) {
  check_metrics(options.metrics, network());
  require(
      options.ranks.size() == 1 || !computes_in_f64(state()),
      "ranks sum gradients in f32; expected one rank for a model of fp64, or another precision");
  description_of<TrainerOptions>().check(&options, "");
  for (NamedObjective& aim : aims) {
    objectives.push_back(std::make_unique<ObjectiveState>(std::move(aim.name), model.shared_state(),
                                                          std::move(aim.objective), memory));
  }
}

ObjectiveState& TrainerState::only(std::string_view call) {
  if (objectives.size() == 1 && objectives.front()->name.empty()) return *objectives.front();
  std::vector<std::string> names;
  for (const auto& one : objectives) names.push_back(one->name);
  fail("the trainer has named objectives, {}: {}", quoted(names), call);
}

ObjectiveState& TrainerState::named(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& one : objectives) {
    if (one->name == name && !name.empty()) return *one;
    if (!one->name.empty()) names.push_back(one->name);
  }
  fail("the trainer has no objective '{}'; it has {}", name,
       names.empty() ? "one without a name" : quoted(names));
}

Trainer::Trainer(Model model, Objective objective, TrainerOptions options) {
  Objectives one(1);
  one.front().objective = std::move(objective);
  state_ = std::make_shared<TrainerState>(std::move(model), std::move(one), std::move(options));
}

Trainer::Trainer(Several, Model model, Objectives objectives, TrainerOptions options) {
  check_names(objectives);
  state_ =
      std::make_shared<TrainerState>(std::move(model), std::move(objectives), std::move(options));
}

void record_training(Model& model, const Dataset& data, const StepData& steps) {
  const std::vector<std::string>& classes = data.classes();  // perhaps of another output
  const bool they_fit = std::ssize(classes) <= most_classes(model.state().definition());
  if (!classes.empty() && they_fit) model.set_class_names(classes);
  TrainingRecord record;
  record.seen = model.training_record().seen;
  record.images = data.info().images;
  if (steps.inputs > 0) record.sample_shape = steps.parts[0].record.shape.sample();
  if (steps.targets.front().output == 0) {
    const OutputLoss& how = steps.targets.front().how;
    const std::string_view name = loss_names()[static_cast<std::size_t>(how.loss)];
    record.loss = how.custom ? "custom" : std::string(name);
    record.labels = steps.classification();
  }
  model.set_training_record(std::move(record));
  set_held_out_errors(model, {});  // of the weights before
}

Turn::Turn(TrainerState& trainer, const char* call) : trainer_(trainer) {
  require(trainer.running == nullptr,
          "a {} of this trainer is running; call {} after it has returned", trainer.running, call);
  trainer.running = call;
}

History Trainer::fit(const Dataset& data, const FitOptions& options) {
  const std::shared_ptr<TrainerState> trainer = state_;  // a callback may destroy this Trainer
  return linnet::fit(*trainer, data, options,
                     [trainer = trainer.get(), weak = std::weak_ptr(trainer),
                      callback = options.callback](std::uint64_t step) {
                       callback->on_batch(StepResult(weak, step, trainer->loads));
                     });
}

Tensor Trainer::predict(const Dataset& data, std::int64_t batch) {
  return state_->model.predict(data, batch);
}

const Model& Trainer::model() const { return state_->model; }
Model& Trainer::model() { return state_->model; }
std::uint64_t Trainer::steps() const { return state_->steps; }
std::int64_t Trainer::epochs() const { return state_->epochs; }

Model Trainer::best() const {
  require(state_->best.has_value(),
          "no weights of a best epoch are kept; set FitOptions::keep_best");
  Model best = state_->model.copy();
  best.set_weights(*state_->best);
  return best;
}

State ObjectiveState::kept_weights() {
  const std::string& kept = objective.average.decay > 0 ? kAverage : kLookahead;
  State weights;
  for_moments(*this, [&](const std::string& name, const ParameterSpec& spec, std::size_t offset) {
    if (!name.starts_with(kept)) return;
    Tensor values(spec.dtype, spec.shape);
    model->backend->download(optimizer_memory(), offset, values.writable_bytes());
    weights.set(spec.name, std::move(values));
  });
  return weights;
}

State averaged_weights(TrainerState& trainer, ObjectiveState& objective) {
  State weights = trainer.model.weights();
  if (objective.objective.average.decay == 0) return weights;
  for (const auto& [name, value] : objective.kept_weights()) weights.set(std::string(name), value);
  return weights;
}

namespace {

Model averaged_of(TrainerState& trainer, ObjectiveState& objective) {
  require(objective.objective.average.decay > 0,
          "no average of the weights is kept; set Objective::average");
  require(objective.updates > 0, "there is no average of the weights before the first step");
  trainer.check_finite();
  trainer.check_weights();
  Model averaged = trainer.model.copy();
  averaged.set_weights(averaged_weights(trainer, objective));
  return averaged;
}

}  // namespace

Model Trainer::averaged() const {
  return averaged_of(*state_, state_->only("call averaged(NAME) for one of them"));
}

Model Trainer::averaged(std::string_view objective) const {
  return averaged_of(*state_, state_->named(objective));
}

State state_of(TrainerState& trainer) {
  State state;
  for (const auto& [name, value] : trainer.model.weights()) {
    state.set(std::string(kModel) + name, value);
  }
  for (const auto& objective : trainer.objectives) {
    for (const auto& [name, value] : objective->state()) {
      state.set(state_prefix(*objective) + name, value);
    }
  }
  state.set("position/epochs", counter(static_cast<std::uint64_t>(trainer.epochs)));
  state.set("position/steps", counter(trainer.steps));
  return state;
}

State Trainer::state() const {
  state_->check_finite();
  state_->check_weights();
  return state_of(*state_);
}

void Trainer::load_state(const State& state) {
  const Turn turn(*state_, "load_state()");
  load(*state_, state);
}

Position position_of(const State& state) {
  return {.epochs = static_cast<std::int64_t>(counted(state, "position/epochs")),
          .steps = counted(state, "position/steps")};
}

void load(TrainerState& trainer, const State& state) {
  check_state(state_of(trainer), state);
  // What could throw comes before anything changes.
  std::optional<FitState> fit = FitState::of(state);
  const auto [epochs, steps] = position_of(state);
  for (const auto& objective : trainer.objectives) {
    const std::string prefix = state_prefix(*objective);
    const std::uint64_t updates =
        objective->name.empty() ? steps : counted(state, prefix + kUpdates);
    const Tensor scale = scale_of(state, prefix);
    const double left_out = scale.as<float>()[static_cast<std::size_t>(LossScale::skipped)];
    require(left_out <= static_cast<double>(updates),
            "the state has {} steps that were left out, of {}", left_out, updates);
    static_cast<void>(left_out_of(state, prefix, trainer.network().parameters.size(), updates));
    objective->schedule.check(objective->name.empty() ? state : state.part(prefix));
  }
  static_cast<void>(LbfgsMemory::of(state));
  static_cast<void>(Damping::of(state));
  trainer.model.set_weights(state.part(kModel));
  clear_stopped(trainer.state(), *trainer.memory);
  for (const auto& objective : trainer.objectives) {
    clear_shards(trainer.state(), *objective->memory);
    if (objective->name.empty()) objective->updates = steps;
    objective->load(objective->name.empty() ? state : state.part(state_prefix(*objective)));
  }
  trainer.epochs = epochs;
  trainer.steps = steps;
  if (fit && fit->best) trainer.best = fit->best;
  trainer.stopped_fit = std::move(fit);
  ++trainer.loads;
}

}  // namespace linnet
