// SPDX-License-Identifier: Apache-2.0
#include <linnet/fleet.h>

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "callbacks.h"
#include "datasets.h"
#include "docstrings.h"
#include "models.h"
#include "tensors.h"
#include "training.h"

namespace linnet::python {
namespace {

constexpr const char* kOwner = "Fleet";

/// A fleet and its members, which share their turns.
class FleetHandle {
 public:
  explicit FleetHandle(Fleet fleet) : fleet_(of_this_process(std::move(fleet))) {
    for (std::int64_t k = 0; k < fleet_->size(); ++k) {
      members_.push_back(k == 0 ? ModelHandle(fleet_->member(k))
                                : ModelHandle(fleet_->member(k), members_.front()));
    }
  }

  /// Calls work(fleet) without Python's lock, when it is this thread's turn.
  template <class F>
  decltype(auto) use(F&& work) {
    return members_.front().use([&](Model& /*first*/) -> decltype(auto) { return work(*fleet_); });
  }
  const std::vector<ModelHandle>& members() const { return members_; }

 private:
  std::shared_ptr<Fleet> fleet_;
  std::vector<ModelHandle> members_;
};

/// Takes an argument out of the others; nothing without it.
template <class T>
std::optional<T> taken(nb::dict& arguments, const char* key) {
  if (!arguments.contains(key)) return {};
  return Convert<T>::from(arguments.attr("pop")(key), {kOwner, key});
}

/// One objective, or a list of them.
std::vector<Objective> objectives_of(nb::handle value) {
  if (nb::isinstance<Objective>(value)) return {nb::cast<Objective>(value)};
  std::vector<Objective> all;
  const Place place{kOwner, "objectives"};
  for (const nb::object& one : items_of(value, "an Objective or a list of them", place)) {
    if (!nb::isinstance<Objective>(one)) refuse(place, "an Objective or a list of them", one);
    all.push_back(nb::cast<Objective>(one));
  }
  return all;
}

FleetOptions options_of(nb::dict arguments) {
  FleetOptions how;
  how.seeds = taken<std::vector<std::uint64_t>>(arguments, "seeds").value_or(how.seeds);
  how.data_seed =
      taken<std::optional<std::uint64_t>>(arguments, "data_seed").value_or(std::nullopt);
  how.metrics = taken<std::vector<CustomMetric>>(arguments, "metrics").value_or(how.metrics);
  how.threads = taken<int>(arguments, "threads").value_or(how.threads);
  if (arguments.contains("objectives")) {
    how.objectives = objectives_of(arguments.attr("pop")("objectives"));
    refuse_others(arguments, kOwner, {"seeds", "data_seed", "objectives", "metrics", "threads"});
    return how;
  }
  const auto optimizers = taken<std::vector<Optimizer>>(arguments, "optimizers");
  if (optimizers && arguments.contains("optimizer")) {
    throw nb::type_error(
        "[Fleet] expected optimizer, of all members, or optimizers, one for each; got both");
  }
  std::vector<std::string> known{"seeds",      "data_seed", "objectives",
                                 "optimizers", "metrics",   "threads"};
  for (const Option<Objective>& one : options<Objective>().all) known.emplace_back(one.key);
  for (const auto& [key, value] : arguments) {
    const std::string name = nb::str(key).c_str();
    if (std::ranges::count(known, name) == 0) refuse_key(kOwner, name, known);
  }
  Objective shared;
  options<Objective>().read(shared, arguments, kOwner);
  how.objectives = {shared};
  if (!optimizers) return how;
  how.objectives.assign(optimizers->size(), shared);
  for (std::size_t k = 0; k < optimizers->size(); ++k)
    how.objectives[k].optimizer = (*optimizers)[k];
  return how;
}

Fleet made(const nb::object& of, const nb::object& members, const nb::kwargs& named) {
  FleetOptions how = options_of(nb::borrow<nb::dict>(named));
  if (nb::isinstance<Network>(of)) {
    const auto count = Convert<std::int64_t>::from(members, {kOwner, "members"});
    const Network network = nb::cast<Network>(of);
    return without_gil([&] { return Fleet(network, count, std::move(how)); });
  }
  if (!members.is_none()) {
    throw nb::type_error("[Fleet] expected a Network and a number of members, or a list of models");
  }
  const Place place{kOwner, "of"};
  std::vector<Model> models;
  std::vector<ModelHandle> handles;
  for (const nb::object& one : items_of(of, "a Network or a list of Models", place)) {
    if (!nb::isinstance<ModelHandle>(one)) refuse(place, "a Network or a list of Models", one);
    handles.push_back(nb::cast<ModelHandle>(one));
    // A copy in the model's turn: the fleet copies without one.
    models.push_back(handles.back().use([](Model& model) { return model.copy(); }));
  }
  return without_gil([&] { return Fleet(models, std::move(how)); });
}

std::string parameters() {
  return "seeds: Sequence[int] = ..., data_seed: int | None = None, objectives: Objective | "
         "Sequence[Objective] = ..., optimizers: Sequence[Optimizer | str] = ..., metrics: " +
         Convert<std::vector<CustomMetric>>::type() + " = ..., threads: int = 0, " +
         options<Objective>().parameters();
}

constexpr const char* kArguments =
    "Arguments:\n"
    "  of: a network, or models of one network, of which the members are copies\n"
    "  members: number of members; left out for models\n"
    "  seeds: seed of each member's initial weights, and of its training unless data_seed is set; "
    "by "
    "default 0, 1, 2, ...\n"
    "  data_seed: seed of shuffling, dropout, augmentation and noise that all members share\n"
    "  objectives: losses, optimizer and schedule, of all members or one for each; instead of the "
    "arguments that follow\n"
    "  optimizers: an optimizer for each member\n"
    "  metrics: custom metrics\n"
    "  threads: threads that members are dealt over; 0: all processors\n";

void bind_predictions(nb::class_<FleetHandle>& c) {
  const auto add = [&](const char* name, Tensor (Fleet::*predict)(const Dataset&, std::int64_t)) {
    c.def(
        name,
        [predict](FleetHandle& f, const DataLike& data, std::int64_t batch) {
          const Dataset samples = dataset_of(data);
          return array_of(f.use([&](Fleet& fleet) { return (fleet.*predict)(samples, batch); }));
        },
        nb::arg("data"), nb::arg("batch") = 256, doc(fmt::format("Fleet.{}", name)));
  };
  add("predict", &Fleet::predict);
  add("predict_members", &Fleet::predict_members);
  add("predict_probabilities", &Fleet::predict_probabilities);
  c.def(
      "predict_quantiles",
      [](FleetHandle& f, const DataLike& data, const nb::object& levels, std::int64_t batch) {
        const auto all =
            Convert<std::vector<double>>::from(levels, {"Fleet.predict_quantiles", "levels"});
        const Dataset samples = dataset_of(data);
        return array_of(
            f.use([&](Fleet& fleet) { return fleet.predict_quantiles(samples, all, batch); }));
      },
      nb::arg("data"), nb::arg("levels"), nb::arg("batch") = 256,
      nb::sig(keep("def predict_quantiles(self, data: " + std::string(DataLike::Name.text) +
                   ", levels: Sequence[float], batch: int = 256) -> Array")),
      doc("Fleet.predict_quantiles"));
  c.def(
      "evaluate",
      [](FleetHandle& f, const DataLike& data, std::int64_t batch) {
        const Dataset samples = dataset_of(data);
        return f.use([&](Fleet& fleet) { return fleet.evaluate(samples, batch); });
      },
      nb::arg("data"), nb::arg("batch") = 256, doc("Fleet.evaluate"));
}

void bind_history(nb::module_& m) {
  nb::class_<FleetHistory>(m, "FleetHistory", doc("FleetHistory"))
      .def_ro("members", &FleetHistory::members, doc("FleetHistory.members"))
      .def_ro("failures", &FleetHistory::failures, doc("FleetHistory.failures"))
      .def_ro("notes", &FleetHistory::notes, doc("FleetHistory.notes"))
      .def("__len__", [](const FleetHistory& h) { return h.members.size(); })
      .def("__repr__", [](const FleetHistory& h) {
        const auto failed = std::ranges::count_if(h.failures, [](const std::string& sentence) {
          return !sentence.empty();
        });
        return fmt::format("<FleetHistory: {} members, {} failed>", h.members.size(), failed);
      });
}

}  // namespace

void bind_fleet(nb::module_& m) {
  bind_history(m);
  nb::class_<FleetHandle> fleet(m, "Fleet", doc("Fleet"));
  fleet.def(
      "__init__",
      [](FleetHandle* self, const nb::object& of, const nb::object& members,
         const nb::kwargs& named) { new (self) FleetHandle(made(of, members, named)); },
      nb::arg("of"), nb::arg("members") = nb::none(), nb::arg("options"),
      nb::sig(signature("__init__",
                        "self, of: Network | Sequence[Model], members: int | None = None",
                        parameters(), "None")),
      doc("Fleet.Fleet", kArguments + options<Objective>().arguments().substr(
                                          std::string_view("Arguments:\n").size())));
  fleet.def("__len__", [](const FleetHandle& f) { return f.members().size(); });
  fleet.def_prop_ro(
      "members", [](const FleetHandle& f) { return f.members(); },
      "The members in order, models that share their weights with the fleet and compute on one "
      "thread. Model.copy() makes an independent model.");
  fleet.def(
      "member",
      [](const FleetHandle& f, std::int64_t index) {
        if (index < 0 || index >= std::ssize(f.members())) {
          throw nb::index_error(fmt::format("[Fleet.member] expected a member from 0 to {}; got {}",
                                            f.members().size() - 1, index)
                                    .c_str());
        }
        return f.members()[static_cast<std::size_t>(index)];
      },
      nb::arg("index"), doc("Fleet.member"));
  fleet.def(
      "best",
      [](FleetHandle& f, std::int64_t index) {
        return ModelHandle(f.use([&](Fleet& of) { return of.best(index); }));
      },
      nb::arg("index"), doc("Fleet.best"));
  fleet.def(
      "fit",
      [](FleetHandle& f, const DataLike& data, const nb::kwargs& named) {
        nb::dict arguments = nb::borrow<nb::dict>(named);
        nb::object callbacks = nb::none();
        if (arguments.contains("callbacks")) callbacks = arguments.attr("pop")("callbacks");
        FitOptions how;
        options<FitOptions>().read(how, arguments, "Fleet.fit");
        const Dataset samples = dataset_of(data);
        PythonFleetCallbacks heard(callbacks, f.members().front());
        return f.use([&](Fleet& of) { return of.fit(samples, how, &heard); });
      },
      nb::arg("data"), nb::arg("options"),
      nb::sig(signature("fit", "self, data: " + std::string(DataLike::Name.text),
                        options<FitOptions>().parameters() +
                            ", callbacks: FleetCallback | Sequence[FleetCallback] | None = None",
                        "FleetHistory")),
      doc("Fleet.fit",
          options<FitOptions>().arguments() +
              "  callbacks: callbacks of epochs and checkpoints, instead of callback\n"));
  bind_predictions(fleet);
}

}  // namespace linnet::python
