// SPDX-License-Identifier: Apache-2.0
// Changes of a training between two of its steps: which parameters train, and weights that become
// their average.
#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "model/update_options.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

std::vector<bool> trained_by(const NetworkDefinition& network, const Objective& objective) {
  OptimizerAttrs attrs = resolve(objective, 1, 1);
  add_parameters(attrs, network, objective);
  return trained_parameters(network, attrs);
}

constexpr const char* kOneOfThem = "name one of them";

}  // namespace

std::vector<std::int64_t> left_out_of(const State& state, const std::string& prefix,
                                      std::size_t parameters, std::uint64_t updates) {
  const Tensor* found = state.find(prefix + kLeftOut);
  if (found == nullptr) return {};
  const Tensor counts = found->to_host();
  const bool fits = counts.dtype() == DType::i64 &&
                    counts.shape() == Shape{static_cast<std::int64_t>(parameters)} &&
                    std::ranges::all_of(counts.as<std::int64_t>(), [&](std::int64_t count) {
                      return count >= 0 && static_cast<std::uint64_t>(count) <= updates;
                    });
  require(fits, "expected a count of at most {} for each of {} parameters as '{}'; got {}", updates,
          parameters, kLeftOut, to_string(counts));
  const std::span<const std::int64_t> values = counts.as<std::int64_t>();
  return {values.begin(), values.end()};
}

std::vector<std::int64_t> ObjectiveState::updates_left_out() const {
  if (left_out.empty()) return {};
  std::vector<std::int64_t> now = left_out;
  const std::vector<bool> trains = trained_by(network(), objective);
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (!trains[i]) now[i] += static_cast<std::int64_t>(updates - left_out_at);
  }
  return now;
}

void ObjectiveState::load_left_out(const State& state) {
  const bool had = !left_out.empty();
  left_out = left_out_of(state, "", network().parameters.size(), updates);
  left_out_at = left_out.empty() ? 0 : updates;
  if (!had && left_out.empty()) return;
  stepper = nullptr;  // whose programs know what was left out
  differentiator = nullptr;
}

void ObjectiveState::set_trains(std::vector<ParameterGroup> trains) {
  Objective changed = objective;
  changed.trains = std::move(trains);
  const std::vector<bool> before = trained_by(network(), objective);
  const std::vector<bool> after = trained_by(network(), changed);
  if (left_out.empty()) left_out.assign(after.size(), 0);
  left_out = updates_left_out();
  left_out_at = updates;
  const auto count = static_cast<std::size_t>(linnet::moments(optimizer(1, 1).settings.rule));
  const Model handle(model);
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (before[i] || !after[i] || objective.lookahead.every == 0 || updates == 0) continue;
    const ParameterSpec& spec = network().parameters[i];
    model->backend->upload(optimizer_memory(), array_at(count) + spec.offset,
                           handle.parameter(spec.name).to_host().bytes());
  }
  objective = std::move(changed);
  stepper = nullptr;
  differentiator = nullptr;
}

namespace {

void change(TrainerState& trainer, ObjectiveState& objective, std::vector<ParameterGroup> trains) {
  const Turn turn(trainer, "set_trains()");
  trainer.check_finite();  // while the steps before can still be repeated
  objective.set_trains(std::move(trains));
  clear_shards(trainer.state(), *objective.memory);  // gradients that are no longer written
}

void take(TrainerState& trainer, ObjectiveState& objective) {
  const Turn turn(trainer, "take_average()");
  trainer.check_finite();
  trainer.check_weights();
  require(objective.objective.average.decay > 0 || objective.objective.lookahead.every > 0,
          "no average of the weights is kept; set Objective::average or Objective::lookahead");
  require(objective.updates > 0, "there is no average of the weights before the first step");
  const std::vector<bool> trains = trained_by(objective.network(), objective.objective);
  const State kept = objective.kept_weights();
  State weights;
  for (std::size_t i = 0; i < trains.size(); ++i) {
    const std::string& name = objective.network().parameters[i].name;
    if (trains[i]) weights.set(name, *kept.find(name));
  }
  trainer.model.set_weights(weights);
}

}  // namespace

void Trainer::set_trains(std::vector<ParameterGroup> trains) {
  change(*state_, state_->only(kOneOfThem), std::move(trains));
}

void Trainer::set_trains(std::string_view objective, std::vector<ParameterGroup> trains) {
  change(*state_, state_->named(objective), std::move(trains));
}

void Trainer::take_average() { take(*state_, state_->only(kOneOfThem)); }

void Trainer::take_average(std::string_view objective) { take(*state_, state_->named(objective)); }

}  // namespace linnet
