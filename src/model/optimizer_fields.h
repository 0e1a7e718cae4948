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

template <class V>
void fields(SGD& o, V&& visit) {
  visit("learning_rate", o.learning_rate);
  visit("momentum", o.momentum);
  visit("nesterov", o.nesterov);
  visit("weight_decay", o.weight_decay);
}
template <class V>
void fields(Adam& o, V&& visit) {
  visit("learning_rate", o.learning_rate);
  visit("beta1", o.beta1);
  visit("beta2", o.beta2);
  visit("epsilon", o.epsilon);
  visit("weight_decay", o.weight_decay);
}
template <class V>
void fields(AdamW& o, V&& visit) {
  visit("learning_rate", o.learning_rate);
  visit("beta1", o.beta1);
  visit("beta2", o.beta2);
  visit("epsilon", o.epsilon);
  visit("weight_decay", o.weight_decay);
}
template <class V>
void fields(RMSprop& o, V&& visit) {
  visit("learning_rate", o.learning_rate);
  visit("alpha", o.alpha);
  visit("epsilon", o.epsilon);
  visit("momentum", o.momentum);
  visit("weight_decay", o.weight_decay);
}
template <class V>
void fields(Adagrad& o, V&& visit) {
  visit("learning_rate", o.learning_rate);
  visit("initial_accumulator_value", o.initial_accumulator_value);
  visit("epsilon", o.epsilon);
  visit("weight_decay", o.weight_decay);
}
template <class V>
void fields(Lion& o, V&& visit) {
  visit("learning_rate", o.learning_rate);
  visit("beta1", o.beta1);
  visit("beta2", o.beta2);
  visit("weight_decay", o.weight_decay);
}

constexpr std::string_view name_of(const Constant&) { return "constant"; }
constexpr std::string_view name_of(const StepDecay&) { return "step"; }
constexpr std::string_view name_of(const CosineDecay&) { return "cosine"; }
constexpr std::string_view name_of(const LinearDecay&) { return "linear"; }
constexpr std::string_view name_of(const PolynomialDecay&) { return "polynomial"; }
constexpr std::string_view name_of(const OneCycle&) { return "one_cycle"; }
constexpr std::string_view name_of(const Plateau&) { return "plateau"; }
inline std::string_view name_of(const ScheduleFunction&) { return "function"; }

template <class V>
void fields(Constant& /*schedule*/, V&& /*visit*/) {}
template <class V>
void fields(StepDecay& s, V&& visit) {
  visit("every_epochs", s.every_epochs);
  visit("gamma", s.gamma);
}
template <class V>
void fields(CosineDecay& s, V&& visit) {
  visit("epochs", s.epochs);
  visit("floor", s.floor);
}
template <class V>
void fields(LinearDecay& s, V&& visit) {
  visit("epochs", s.epochs);
  visit("floor", s.floor);
}
template <class V>
void fields(PolynomialDecay& s, V&& visit) {
  visit("power", s.power);
  visit("epochs", s.epochs);
  visit("floor", s.floor);
}
template <class V>
void fields(OneCycle& s, V&& visit) {
  visit("epochs", s.epochs);
  visit("rise", s.rise);
  visit("start", s.start);
  visit("floor", s.floor);
}
template <class V>
void fields(Plateau& s, V&& visit) {
  visit("factor", s.factor);
  visit("patience", s.patience);
  visit("threshold", s.threshold);
  visit("floor", s.floor);
}
template <class V>
void fields(ScheduleFunction& /*schedule*/, V&& /*visit*/) {}

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
