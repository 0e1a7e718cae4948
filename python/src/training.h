// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/devices.h>
#include <linnet/trainer.h>

#include <memory>
#include <string>
#include <vector>

#include "gil.h"
#include "options.h"

// How Python writes what a training consists of.
namespace linnet::python {

/// Sets a loss from its name, or from a function of outputs and targets.
void set_loss(Loss& loss, CustomLoss& custom, nb::handle value, const Place& place);
std::string loss_type();

/// A schedule, or a function of epoch and step that returns the factor.
template <>
struct Convert<Schedule> {
  static std::string type() { return "Schedule | str | Callable[[float, int], float]"; }
  static std::string got() { return "Schedule"; }
  static Schedule from(nb::handle value, const Place& place);
  static nb::object to(const Schedule& value) { return nb::cast(value); }
};

/// A group, or a pattern of names.
template <>
struct Convert<ParameterGroup> {
  static std::string type() { return "ParameterGroup | str"; }
  static ParameterGroup from(nb::handle value, const Place& place);
  static nb::object to(const ParameterGroup& value) { return nb::cast(value); }
};

/// Epochs of rest, or a pattern of names that rest in all of them.
template <>
struct Convert<Freeze> {
  static std::string type() { return "Freeze | str"; }
  static Freeze from(nb::handle value, const Place& place);
  static nb::object to(const Freeze& value) { return nb::cast(value); }
};

/// The settings, or the name of a layer.
template <>
struct Convert<Whiten> {
  static std::string type() { return "Whiten | str"; }
  static std::string got() { return "Whiten"; }
  static Whiten from(nb::handle value, const Place& place);
  static nb::object to(const Whiten& value) { return nb::cast(value); }
};

/// A list, or a mapping of outputs to losses.
template <>
struct Convert<std::vector<OutputLoss>> {
  static std::string type() { return "Sequence[OutputLoss] | Mapping[str, " + loss_type() + "]"; }
  static std::vector<OutputLoss> from(nb::handle value, const Place& place);
  static nb::object to(const std::vector<OutputLoss>& value);
};

/// A list, or a mapping of names to functions of outputs and targets.
template <>
struct Convert<std::vector<CustomMetric>> {
  static std::string type() {
    return "Sequence[CustomMetric] | Mapping[str, "
           "Callable[[Expression, Expression], Expression]]";
  }
  static std::vector<CustomMetric> from(nb::handle value, const Place& place);
  static nb::object to(const std::vector<CustomMetric>& value);
};

template <>
struct Convert<CustomLoss> {  // also CustomMetric::values
  static std::string type() { return "Callable[[Expression, Expression], Expression] | None"; }
  static CustomLoss from(nb::handle value, const Place& place);
  static nb::object to(const CustomLoss& /*value*/) { return nb::none(); }
};

using MetricResult = std::function<double(std::span<const double>)>;
template <>
struct Convert<MetricResult> {
  static std::string type() { return "Callable[[list[float]], float] | None"; }
  static MetricResult from(nb::handle value, const Place& place);
  static nb::object to(const MetricResult& /*value*/) { return nb::none(); }
};

/// Threads on which several models compute.
struct Team {
  std::shared_ptr<ThreadTeam> threads;
};
/// The same team for Python's objects, which a process that was forked off leaves alone.
Team team_of(std::shared_ptr<ThreadTeam> threads);
template <>
struct Convert<std::shared_ptr<ThreadTeam>> {
  static std::string type() { return "ThreadTeam | None"; }
  static std::shared_ptr<ThreadTeam> from(nb::handle value, const Place& place);
  static nb::object to(const std::shared_ptr<ThreadTeam>& value);
};

}  // namespace linnet::python
