// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "base/check.h"
#include "model/optimizers.h"

namespace linnet {
namespace {

/// Returns the step in which a decay of so many epochs ends; 0: with the training.
std::int64_t end_of(double epochs, const TrainingLength& length) {
  const std::int64_t steps =
      epochs == 0 ? length.epochs * length.steps_per_epoch : length.steps(epochs);
  return std::max<std::int64_t>(steps, 1);
}

void set(UpdateSettings& to, const Constant& /*schedule*/, const TrainingLength& /*length*/) {
  to.decay = Decay::constant;
}

void set(UpdateSettings& to, const StepDecay& s, const TrainingLength& length) {
  to.decay = Decay::step;
  to.gamma = s.gamma;
  to.every_steps = std::max<std::int64_t>(length.steps(s.every_epochs), 1);
}

template <class S>
void set_decay(UpdateSettings& to, Decay decay, const S& s, const TrainingLength& length) {
  to.decay = decay;
  to.floor = s.floor;
  to.total_steps = end_of(s.epochs, length);
}

void set(UpdateSettings& to, const CosineDecay& s, const TrainingLength& length) {
  set_decay(to, Decay::cosine, s, length);
}

void set(UpdateSettings& to, const LinearDecay& s, const TrainingLength& length) {
  set_decay(to, Decay::linear, s, length);
}

void set(UpdateSettings& to, const PolynomialDecay& s, const TrainingLength& length) {
  set_decay(to, Decay::polynomial, s, length);
  to.power = s.power;
}

void set(UpdateSettings& to, const OneCycle& s, const TrainingLength& length) {
  set_decay(to, Decay::one_cycle, s, length);
  to.start = s.start;
  const auto cycle = static_cast<double>(to.total_steps - to.warmup_steps);
  to.rise_steps = s.rise * cycle - 1;  // as in PyTorch
}

void set(UpdateSettings& to, const Piecewise& s, const TrainingLength& length) {
  const std::size_t count = s.at.size();
  require(count >= 1 && count <= kMostKnots && s.factors.size() == count,
          "[piecewise] expected 1 to {} places in at and as many factors; got {} and {}",
          kMostKnots, count, s.factors.size());
  const auto fallen = std::ranges::adjacent_find(s.at, std::greater_equal<>{});
  require(fallen == s.at.end(), "[piecewise] expected places that rise in at; got {} before {}",
          fallen == s.at.end() ? 0 : *fallen, fallen == s.at.end() ? 0 : *(fallen + 1));
  to.decay = Decay::piecewise;
  const double epochs = s.epochs == 0 ? static_cast<double>(length.epochs) : s.epochs;
  to.knots = {};
  for (std::size_t i = 0; i < count; ++i) {
    to.knots.add(s.at[i] * epochs * static_cast<double>(length.steps_per_epoch), s.factors[i]);
  }
}

/// The host's: see HostSchedule.
void set(UpdateSettings& to, const Plateau& /*schedule*/, const TrainingLength& /*length*/) {
  to.decay = Decay::constant;
}

void set(UpdateSettings& to, const ScheduleFunction& function, const TrainingLength& /*length*/) {
  require(function != nullptr, "the schedule is an empty function");
  to.decay = Decay::constant;
}

template <class S>
Field epochs() {
  return field<&S::epochs>("epochs").between(0, kMostEpochs);
}
template <class S>
Field any_floor() {
  return field<&S::floor>("floor").at_least(0).finite();
}

Kinds<Schedule> described() {
  Kinds<Schedule> all;
  all.add("constant", "Constant", {}, Constant{});
  all.add("step", "StepDecay",
          {field<&StepDecay::every_epochs>("every_epochs")
               .in({.least = 0, .most = kMostEpochs, .above_least = true}),
           field<&StepDecay::gamma>("gamma").at_least(0).finite()},
          StepDecay{.every_epochs = 30});
  all.add("cosine", "CosineDecay", {epochs<CosineDecay>(), any_floor<CosineDecay>()},
          CosineDecay{.epochs = 10, .floor = 0.01});
  all.add("linear", "LinearDecay", {epochs<LinearDecay>(), any_floor<LinearDecay>()},
          LinearDecay{.epochs = 10});
  all.add("polynomial", "PolynomialDecay",
          {field<&PolynomialDecay::power>("power").above(0).finite(), epochs<PolynomialDecay>(),
           any_floor<PolynomialDecay>()},
          PolynomialDecay{.power = 2});
  all.add("one_cycle", "OneCycle",
          {epochs<OneCycle>(), field<&OneCycle::rise>("rise").between(0, 1),
           field<&OneCycle::start>("start").between(0, 1),
           field<&OneCycle::floor>("floor").between(0, 1)},
          OneCycle{.epochs = 20, .rise = 0.25});
  all.add("piecewise", "Piecewise",
          {field<&Piecewise::at>("at").between(0, kMostEpochs),
           field<&Piecewise::factors>("factors").at_least(0).finite(), epochs<Piecewise>()},
          Piecewise{.at = {0, 2, 8, 10}, .factors = {0.2, 1, 0.1, 0}, .epochs = 1});
  all.add("plateau", "Plateau",
          {field<&Plateau::factor>("factor").in(
               {.least = 0, .most = 1, .above_least = true, .below_most = true}),
           field<&Plateau::patience>("patience").at_least(0),
           field<&Plateau::threshold>("threshold").from_to_below(0, 1),
           field<&Plateau::floor>("floor").between(0, 1)},
          Plateau{.factor = 0.5, .patience = 3});
  return all;
}

}  // namespace

const Kinds<Schedule>& schedules() {
  static const Kinds<Schedule> kAll = described();
  return kAll;
}

std::string_view name_of(const Schedule& schedule) {
  const Kind<Schedule>* kind = schedules().find(schedule);
  return kind == nullptr ? "function" : kind->fields.kind;
}

void set_schedule(UpdateSettings& to, const Schedule& schedule, const TrainingLength& length) {
  schedules().check(schedule);
  std::visit([&](const auto& s) { set(to, s, length); }, schedule);
}

}  // namespace linnet
