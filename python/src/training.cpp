// SPDX-License-Identifier: Apache-2.0
#include "training.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "model/optimizers.h"

namespace linnet::python {
namespace {

nb::callable callable_of(nb::handle value, std::string_view expected, const Place& place) {
  if (PyCallable_Check(value.ptr()) == 0 || PyType_Check(value.ptr()))
    refuse(place, expected, value);
  return nb::borrow<nb::callable>(value);
}

template <class F>
void each_item(nb::handle mapping, const F& f) {
  const nb::object items = nb::steal(PyMapping_Items(mapping.ptr()));
  if (!items.is_valid()) nb::raise_python_error();
  for (const nb::handle item : items) f(item[0], item[1]);
}

bool is_mapping(nb::handle value) {
  return PyMapping_Check(value.ptr()) != 0 && nb::hasattr(value, "items");
}

}  // namespace

std::string loss_type() {
  return Convert<Loss>::type() + " | Callable[[Expression, Expression], Expression]";
}

void set_loss(Loss& loss, CustomLoss& custom, nb::handle value, const Place& place) {
  if (PyCallable_Check(value.ptr()) != 0 && !nb::isinstance<nb::str>(value)) {
    custom = Convert<CustomLoss>::from(value, place);
  } else {
    loss = Convert<Loss>::from(value, place);
  }
}

CustomLoss Convert<CustomLoss>::from(nb::handle value, const Place& place) {
  if (value.is_none()) return {};
  const auto held = hold(callable_of(value, "a function of outputs and targets", place));
  const std::string what = fmt::format("{} in {}", place.key, place.owner);
  return [held, what](const Expression& y, const Expression& t) {
    return call_traced(held.get(), y, t, what.c_str());
  };
}

MetricResult Convert<MetricResult>::from(nb::handle value, const Place& place) {
  if (value.is_none()) return {};
  const auto held = hold(callable_of(value, "a function of means", place));
  return [held](std::span<const double> means) {
    const WithGil locked;
    nb::list all;
    for (const double mean : means) all.append(mean);
    return Convert<double>::from(nb::handle(held.get())(all), {"CustomMetric", "the result"});
  };
}

// Here, where no caster of variants is known.
Optimizer Convert<Optimizer>::from(nb::handle value, const Place& place) {
  if (nb::isinstance<Optimizer>(value)) return nb::cast<Optimizer>(value);
  if (!nb::isinstance<nb::str>(value)) refuse(place, "an Optimizer or the name of one", value);
  return optimizers().all()[choice(value, optimizers().names(), place)].defaults;
}

Schedule Convert<Schedule>::from(nb::handle value, const Place& place) {
  if (nb::isinstance<Schedule>(value)) return nb::cast<Schedule>(value);
  if (nb::isinstance<nb::str>(value)) {
    return schedules().all()[choice(value, schedules().names(), place)].defaults;
  }
  const auto held = hold(callable_of(value, "a schedule or a function of epoch and step", place));
  return ScheduleFunction([held](double epoch, std::uint64_t step) {
    const WithGil locked;
    return Convert<double>::from(nb::handle(held.get())(epoch, step), {"schedule", "the factor"});
  });
}

ParameterGroup Convert<ParameterGroup>::from(nb::handle value, const Place& place) {
  if (nb::isinstance<nb::str>(value)) return {.name = Convert<std::string>::from(value, place)};
  if (!nb::isinstance<ParameterGroup>(value))
    refuse(place, "a list of ParameterGroup or str", value);
  return nb::cast<ParameterGroup>(value);
}

Freeze Convert<Freeze>::from(nb::handle value, const Place& place) {
  if (nb::isinstance<nb::str>(value)) return {.name = Convert<std::string>::from(value, place)};
  if (!nb::isinstance<Freeze>(value)) refuse(place, "a list of Freeze or str", value);
  return nb::cast<Freeze>(value);
}

Whiten Convert<Whiten>::from(nb::handle value, const Place& place) {
  if (nb::isinstance<nb::str>(value)) return {.layer = Convert<std::string>::from(value, place)};
  if (!nb::isinstance<Whiten>(value)) refuse(place, "a Whiten or the name of a layer", value);
  return nb::cast<Whiten>(value);
}

std::vector<OutputLoss> Convert<std::vector<OutputLoss>>::from(nb::handle value,
                                                               const Place& place) {
  std::vector<OutputLoss> all;
  if (is_mapping(value)) {
    each_item(value, [&](nb::handle key, nb::handle loss) {
      OutputLoss one;
      if (nb::isinstance<OutputLoss>(loss)) {
        one = nb::cast<OutputLoss>(loss);
      } else {
        set_loss(one.loss, one.custom, loss, place);
      }
      one.output = Convert<std::string>::from(key, place);
      all.push_back(std::move(one));
    });
    return all;
  }
  for (const nb::object& item :
       items_of(value, "a list of OutputLoss or a dict of losses", place)) {
    if (!nb::isinstance<OutputLoss>(item)) refuse(place, "a list of OutputLoss", item);
    all.push_back(nb::cast<OutputLoss>(item));
  }
  return all;
}
nb::object Convert<std::vector<OutputLoss>>::to(const std::vector<OutputLoss>& value) {
  nb::list all;
  for (const OutputLoss& one : value) all.append(nb::cast(one));
  return all;
}

std::vector<CustomMetric> Convert<std::vector<CustomMetric>>::from(nb::handle value,
                                                                   const Place& place) {
  std::vector<CustomMetric> all;
  if (is_mapping(value)) {
    each_item(value, [&](nb::handle key, nb::handle values) {
      all.push_back({.name = Convert<std::string>::from(key, place),
                     .values = Convert<CustomLoss>::from(values, place)});
    });
    return all;
  }
  for (const nb::object& item : items_of(value, "a list of CustomMetric or a dict", place)) {
    if (!nb::isinstance<CustomMetric>(item)) refuse(place, "a list of CustomMetric", item);
    all.push_back(nb::cast<CustomMetric>(item));
  }
  return all;
}
nb::object Convert<std::vector<CustomMetric>>::to(const std::vector<CustomMetric>& value) {
  nb::list all;
  for (const CustomMetric& one : value) all.append(nb::cast(one));
  return all;
}

Team team_of(std::shared_ptr<ThreadTeam> threads) {
  ThreadTeam* const team = threads.get();
  return {std::shared_ptr<ThreadTeam>(of_this_process(std::move(threads)), team)};
}

std::shared_ptr<ThreadTeam> Convert<std::shared_ptr<ThreadTeam>>::from(nb::handle value,
                                                                       const Place& place) {
  if (value.is_none()) return {};
  if (!nb::isinstance<Team>(value)) refuse(place, "a ThreadTeam or None", value);
  return nb::cast<const Team&>(value).threads;
}
nb::object Convert<std::shared_ptr<ThreadTeam>>::to(const std::shared_ptr<ThreadTeam>& value) {
  return value == nullptr ? nb::object(nb::none()) : nb::cast(team_of(value));
}

}  // namespace linnet::python
