// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/optimizer.h>
#include <linnet/schedule.h>

#include <string_view>

// The names of optimizers and schedules, and of their fields, as files and messages have them.
// fields(object, visit) calls visit("name", field) for each field of object, a double, bool or
// std::int64_t&.
namespace linnet {

constexpr std::string_view name_of(const Adam&) { return "adam"; }
constexpr std::string_view name_of(const SGD&) { return "sgd"; }
constexpr std::string_view name_of(const AdamW&) { return "adamw"; }
constexpr std::string_view name_of(const RMSprop&) { return "rmsprop"; }
constexpr std::string_view name_of(const Adagrad&) { return "adagrad"; }
constexpr std::string_view name_of(const Lion&) { return "lion"; }

constexpr std::string_view name_of(const Constant&) { return "constant"; }
constexpr std::string_view name_of(const StepDecay&) { return "step"; }
constexpr std::string_view name_of(const CosineDecay&) { return "cosine"; }
constexpr std::string_view name_of(const LinearDecay&) { return "linear"; }
constexpr std::string_view name_of(const PolynomialDecay&) { return "polynomial"; }
constexpr std::string_view name_of(const OneCycle&) { return "one_cycle"; }
constexpr std::string_view name_of(const Plateau&) { return "plateau"; }
inline std::string_view name_of(const ScheduleFunction&) { return "function"; }

/// Of any optimizer or schedule.
template <class O, class V>
void fields(O& o, V&& visit) {
  if constexpr (requires { o.learning_rate; }) visit("learning_rate", o.learning_rate);
  if constexpr (requires { o.beta1; }) visit("beta1", o.beta1);
  if constexpr (requires { o.beta2; }) visit("beta2", o.beta2);
  if constexpr (requires { o.momentum; }) visit("momentum", o.momentum);
  if constexpr (requires { o.nesterov; }) visit("nesterov", o.nesterov);
  if constexpr (requires { o.alpha; }) visit("alpha", o.alpha);
  if constexpr (requires { o.initial_accumulator_value; }) {
    visit("initial_accumulator_value", o.initial_accumulator_value);
  }
  if constexpr (requires { o.epsilon; }) visit("epsilon", o.epsilon);
  if constexpr (requires { o.weight_decay; }) visit("weight_decay", o.weight_decay);
  if constexpr (requires { o.every_epochs; }) visit("every_epochs", o.every_epochs);
  if constexpr (requires { o.gamma; }) visit("gamma", o.gamma);
  if constexpr (requires { o.power; }) visit("power", o.power);
  if constexpr (requires { o.epochs; }) visit("epochs", o.epochs);
  if constexpr (requires { o.rise; }) visit("rise", o.rise);
  if constexpr (requires { o.start; }) visit("start", o.start);
  if constexpr (requires { o.factor; }) visit("factor", o.factor);
  if constexpr (requires { o.patience; }) visit("patience", o.patience);
  if constexpr (requires { o.threshold; }) visit("threshold", o.threshold);
  if constexpr (requires { o.floor; }) visit("floor", o.floor);
}

inline std::string_view name_of(const Optimizer& optimizer) {
  return std::visit([](const auto& o) { return name_of(o); }, optimizer);
}
inline std::string_view name_of(const Schedule& schedule) {
  return std::visit([](const auto& s) { return name_of(s); }, schedule);
}

inline double& learning_rate_of(Optimizer& optimizer) {
  return std::visit([](auto& o) -> double& { return o.learning_rate; }, optimizer);
}
inline double learning_rate_of(const Optimizer& optimizer) {
  return std::visit([](const auto& o) { return o.learning_rate; }, optimizer);
}

}  // namespace linnet
