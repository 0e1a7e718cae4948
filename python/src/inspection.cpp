// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/inspect.h>
#include <linnet/profile.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "datasets.h"
#include "docstrings.h"
#include "models.h"
#include "shapes.h"
#include "shown.h"
#include "training.h"

namespace linnet::python {

template <>
std::vector<std::string> names_of<Dump>() {
  return {"graph", "plan"};
}

template <>
const Options<MaxBatchOptions>& options<MaxBatchOptions>() {
  using O = MaxBatchOptions;
  static const Options<O> all{"MaxBatchOptions",
                              {option<&O::memory_limit>("memory_limit"),
                               option<&O::training>("training"), option<&O::recompute>("recompute"),
                               option<&O::shards>("shards"), option<&O::stream>("stream")}};
  return all;
}

namespace {

/// What is planned, and where.
struct Planned {
  TrainingOptions training;
  ModelOptions on = {.device = "cpu"};
};
Planned planned(const nb::object& training, const nb::handle& named, std::string_view owner,
                int threads = 0) {
  Planned how;
  how.on.threads = threads;
  if (!training.is_none()) {
    how.training = Convert<TrainingOptions>::from(training, {owner, "training"});
  }
  options<ModelOptions>().read(how.on, nb::borrow<nb::dict>(named), owner);
  return how;
}

/// Binds a question about a network as a function, and as a method of networks and models.
template <class F, class... Between>
void asked(nb::module_& m, const char* function, const char* method, const std::string& between,
           const std::string& result, const std::string& more, const F& answer,
           const Between&... arguments) {
  const auto text = [&](const char* name, const char* first) {
    return nb::sig(keep(fmt::format(
        "def {}({}, batch: int = 128{}, training: TrainingOptions | None = None, *, {}) -> {}",
        name, first, between, options<ModelOptions>().parameters(), result)));
  };
  const char* docs = doc(function, more);
  m.def(function, answer, nb::arg("network"), nb::arg("batch") = 128, arguments...,
        nb::arg("training") = nb::none(), nb::arg("options"), text(function, "network: Network"),
        docs);
  nb::borrow<nb::class_<Network>>(m.attr("Network"))
      .def(method, answer, nb::arg("batch") = 128, arguments..., nb::arg("training") = nb::none(),
           nb::arg("options"), text(method, "self"), docs);
  nb::borrow<nb::class_<ModelHandle>>(m.attr("Model"))
      .def(
          method,
          [method](const nb::object& model, const nb::args& given, const nb::kwargs& named) {
            return model.attr("network").attr(method)(*given, **named);
          },
          text(method, "self"), docs);
}

void bind_summary(nb::module_& m) {
  nb::class_<LayerSummary>(m, "LayerSummary", doc("LayerSummary"))
      .def_ro("name", &LayerSummary::name, doc("LayerSummary.name"))
      .def_ro("kind", &LayerSummary::kind, doc("LayerSummary.kind"))
      .def_ro("settings", &LayerSummary::settings, doc("LayerSummary.settings"))
      .def_prop_ro(
          "output", [](const LayerSummary& s) { return tuple_of(s.output); },
          nb::sig("def output(self) -> tuple[int, ...]"), doc("LayerSummary.output"))
      .def_ro("parameters", &LayerSummary::parameters, doc("LayerSummary.parameters"))
      .def_ro("flops_per_sample", &LayerSummary::flops_per_sample,
              doc("LayerSummary.flops_per_sample"));
  nb::class_<MemoryPlan>(m, "MemoryPlan", doc("MemoryPlan"))
      .def_ro("parameters", &MemoryPlan::parameters, doc("MemoryPlan.parameters"))
      .def_ro("gradients", &MemoryPlan::gradients, doc("MemoryPlan.gradients"))
      .def_ro("optimizer", &MemoryPlan::optimizer, doc("MemoryPlan.optimizer"))
      .def_ro("statistics", &MemoryPlan::statistics, doc("MemoryPlan.statistics"))
      .def_ro("activations", &MemoryPlan::activations, doc("MemoryPlan.activations"))
      .def_ro("workspace", &MemoryPlan::workspace, doc("MemoryPlan.workspace"))
      .def_ro("data", &MemoryPlan::data, doc("MemoryPlan.data"))
      .def_ro("shards", &MemoryPlan::shards, doc("MemoryPlan.shards"))
      .def_ro("recompute", &MemoryPlan::recompute, doc("MemoryPlan.recompute"))
      .def_prop_ro("total", &MemoryPlan::total, doc("MemoryPlan.total"));
  nb::class_<NetworkSummary> summary(m, "NetworkSummary", doc("NetworkSummary"));
  summary.def_ro("layers", &NetworkSummary::layers, doc("NetworkSummary.layers"))
      .def_ro("parameters", &NetworkSummary::parameters, doc("NetworkSummary.parameters"))
      .def_ro("flops_per_sample", &NetworkSummary::flops_per_sample,
              doc("NetworkSummary.flops_per_sample"))
      .def_ro("batch", &NetworkSummary::batch, doc("NetworkSummary.batch"))
      .def_ro("training", &NetworkSummary::training, doc("NetworkSummary.training"))
      .def_ro("prediction", &NetworkSummary::prediction, doc("NetworkSummary.prediction"));
  shown(summary, "_repr_html_", "summary_html");
  shown(summary, "__repr__", "summary_text");
  asked(m, "summarize", "summary", "", "NetworkSummary",
        "Plans for the CPU where no device is named.",
        [](const Network& network, std::int64_t batch, const nb::object& training,
           const nb::kwargs& named) {
          const Planned how = planned(training, named, "summarize");
          return without_gil([&] { return summarize(network, batch, how.training, how.on); });
        });
  asked(
      m, "dump_training_step", "plan", ", what: Literal['graph', 'plan'] = 'plan'", "str", "",
      [](const Network& network, std::int64_t batch, const nb::object& what,
         const nb::object& training, const nb::kwargs& named) {
        const Dump dump = Convert<Dump>::from(what, {"dump_training_step", "what"});
        const Planned how = planned(training, named, "dump_training_step", 1);
        return without_gil(
            [&] { return dump_training_step(network, batch, dump, how.training, how.on); });
      },
      nb::arg("what") = "plan");
}

void bind_max_batch(nb::module_& m) {
  nb::class_<MaxBatch>(m, "MaxBatch", doc("MaxBatch"))
      .def_ro("batch", &MaxBatch::batch, doc("MaxBatch.batch"))
      .def_ro("unbounded", &MaxBatch::unbounded, doc("MaxBatch.unbounded"))
      .def_ro("memory", &MaxBatch::memory, doc("MaxBatch.memory"));
  m.def(
      "max_batch",
      [](const Network& network, const nb::object& recipe, const nb::kwargs& named) {
        nb::dict arguments = nb::borrow<nb::dict>(named);
        const auto limit = take<MaxBatchOptions>(arguments, "max_batch");
        const Planned how = planned(recipe, arguments, "max_batch");
        return without_gil([&] { return max_batch(network, limit, how.training, how.on); });
      },
      nb::arg("network"), nb::arg("recipe") = nb::none(), nb::arg("options"),
      nb::sig(signature("max_batch", "network: Network, recipe: TrainingOptions | None = None",
                        options<MaxBatchOptions>().parameters() + ", " +
                            options<ModelOptions>().parameters(),
                        "MaxBatch")),
      doc("max_batch", options<MaxBatchOptions>().arguments() +
                           "  recipe: the training that is planned\n"
                           "Plans for the CPU where no device is named."));
}

void bind_profile(nb::module_& m) {
  nb::class_<OperatorProfile>(m, "OperatorProfile", doc("OperatorProfile"))
      .def_ro("name", &OperatorProfile::name, doc("OperatorProfile.name"))
      .def_ro("layer", &OperatorProfile::layer, doc("OperatorProfile.layer"))
      .def_ro("engine", &OperatorProfile::engine, doc("OperatorProfile.engine"))
      .def_ro("shapes", &OperatorProfile::shapes, doc("OperatorProfile.shapes"))
      .def_ro("start", &OperatorProfile::start, doc("OperatorProfile.start"))
      .def_ro("seconds", &OperatorProfile::seconds, doc("OperatorProfile.seconds"))
      .def_ro("share", &OperatorProfile::share, doc("OperatorProfile.share"))
      .def_ro("flops", &OperatorProfile::flops, doc("OperatorProfile.flops"))
      .def_ro("bytes", &OperatorProfile::bytes, doc("OperatorProfile.bytes"))
      .def_ro("of_ceiling", &OperatorProfile::of_ceiling, doc("OperatorProfile.of_ceiling"));
  nb::class_<Profile> profile(m, "Profile", doc("Profile"));
  profile.def_ro("operators", &Profile::operators, doc("Profile.operators"))
      .def_ro("device", &Profile::device, doc("Profile.device"))
      .def_ro("batch", &Profile::batch, doc("Profile.batch"))
      .def_ro("steps", &Profile::steps, doc("Profile.steps"))
      .def_ro("operator_seconds", &Profile::operator_seconds, doc("Profile.operator_seconds"))
      .def_ro("step_seconds", &Profile::step_seconds, doc("Profile.step_seconds"))
      .def_ro("notes", &Profile::notes, doc("Profile.notes"))
      .def(
          "table",
          [](const nb::object& self) {
            return nb::module_::import_("linnet._notebook").attr("profile_table")(self);
          },
          nb::sig("def table(self) -> dict[str, list[Any]]"),
          "Returns the operators' numbers by name, a column each, e.g. for pandas.DataFrame().");
  shown(profile, "_repr_html_", "profile_html");
  shown(profile, "__repr__", "profile_text");
  m.def(
      "profile_training",
      [](ModelHandle& model, const DataLike& data, std::int64_t batch, std::int64_t steps) {
        const Dataset samples = dataset_of(data);
        return model.use([&](Model& m) { return profile_training(m, samples, batch, steps); });
      },
      nb::arg("model"), nb::arg("data"), nb::arg("batch") = 128, nb::arg("steps") = 20,
      doc("profile_training"));
  m.def(
      "profile_prediction",
      [](ModelHandle& model, std::int64_t batch, std::int64_t steps) {
        return model.use([&](Model& m) { return profile_prediction(m, batch, steps); });
      },
      nb::arg("model"), nb::arg("batch") = 1, nb::arg("steps") = 100, doc("profile_prediction"));
}

}  // namespace

void bind_inspection(nb::module_& m) {
  bind_summary(m);
  bind_max_batch(m);
  bind_profile(m);
}

}  // namespace linnet::python
