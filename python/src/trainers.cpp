// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/checkpoint.h>
#include <linnet/metrics.h>
#include <linnet/trainer.h>
#include <linnet/training_warnings.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "callbacks.h"
#include "datasets.h"
#include "docstrings.h"
#include "models.h"
#include "nn/views.h"
#include "tensors.h"
#include "training.h"

namespace linnet::python {
namespace {

/// A trainer and the turns of its model.
struct TrainerHandle {
  ModelHandle model;
  Trainer trainer;

  template <class F>
  decltype(auto) use(F&& work) {
    return model.use([&](Model& /*model*/) -> decltype(auto) { return work(trainer); });
  }
};

/// The batches of one epoch, one after the other.
class BatchIterator {
 public:
  BatchIterator(std::shared_ptr<const BatchRange> range, BatchRange::Iterator at)
      : range_(std::move(range)), at_(at) {}
  Batch next() {
    if (at_ == range_->end()) throw nb::stop_iteration();
    Batch batch = *at_;
    ++at_;
    return batch;
  }

 private:
  std::shared_ptr<const BatchRange> range_;
  BatchRange::Iterator at_;
};
struct Batches {
  std::shared_ptr<const BatchRange> range;

  std::size_t size() const {
    std::size_t count = 0;
    for (auto at = range->begin(); at != range->end(); ++at) ++count;
    return count;
  }
};

/// A step of a trainer, whose loss waits for its turn.
struct StepHandle {
  TrainerHandle trainer;
  StepResult step;
};

/// Returns the number, which may still be called, as `loss` was a method once.
nb::object loss_number(double loss) {
  return nb::module_::import_("linnet._steps").attr("Loss")(loss);
}

Objectives objectives_of(nb::handle mapping) {
  Objectives all;
  const nb::object items = nb::steal(PyMapping_Items(mapping.ptr()));
  if (!items.is_valid()) nb::raise_python_error();
  const Place place{"Trainer", "objectives"};
  for (const nb::handle item : items) {
    all.push_back(
        {Convert<std::string>::from(item[0], place), Convert<Objective>::from(item[1], place)});
  }
  return all;
}

TrainerHandle made(const ModelHandle& model, const nb::object& objective, const nb::kwargs& named) {
  nb::dict arguments = nb::borrow<nb::dict>(named);
  const auto how = take<TrainerOptions>(arguments, "Trainer");
  if (!objective.is_none()) {
    refuse_others(arguments, "Trainer", {"seed", "metrics", "disabled_passes"});
    if (nb::isinstance<nb::dict>(objective)) {
      return {model, Trainer(model.model(), objectives_of(objective), how)};
    }
    return {model, Trainer(model.model(),
                           Convert<Objective>::from(objective, {"Trainer", "objective"}), how)};
  }
  Objective one;
  options<Objective>().read(one, arguments, "Trainer");
  return {model, Trainer(model.model(), std::move(one), how)};
}

/// One batch, or a list of them that count as one.
std::vector<Batch> batches_of(nb::handle value) {
  if (nb::isinstance<Batch>(value)) return {nb::cast<Batch>(value)};
  std::vector<Batch> all;
  for (const nb::object& item :
       items_of(value, "a Batch or a list of them", {"Trainer.step", "batch"})) {
    if (!nb::isinstance<Batch>(item)) {
      refuse({"Trainer.step", "batch"}, "a Batch of Trainer.batches() or a list of them", item);
    }
    all.push_back(nb::cast<Batch>(item));
  }
  return all;
}

/// What is first may be the name of an objective.
struct Named {
  std::optional<std::string> objective;
  nb::object rest;
};
Named named_of(const nb::object& first, const nb::object& second, const char* what) {
  if (nb::isinstance<nb::str>(first)) {
    if (second.is_none()) {
      throw nb::type_error(fmt::format("expected {} after the objective's name", what).c_str());
    }
    return {nb::cast<std::string>(first), second};
  }
  if (!second.is_none()) {
    throw nb::type_error(
        fmt::format("expected one argument, {}, or the name of an objective before "
                    "it; got {} and {}; (inputs, targets) is one argument",
                    what, nb::type_name(first.type()).c_str(), nb::type_name(second.type()).c_str())
            .c_str());
  }
  return {{}, first};
}

StepHandle step(TrainerHandle& t, const nb::object& first, const nb::object& second) {
  const Named given = named_of(first, second, "a batch");
  const std::vector<Batch> batches = batches_of(given.rest);
  return {t, t.use([&](Trainer& trainer) {
            if (batches.size() == 1) {
              return given.objective ? trainer.step(*given.objective, batches.front())
                                     : trainer.step(batches.front());
            }
            return given.objective ? trainer.step(*given.objective, batches)
                                   : trainer.step(batches);
          })};
}

Arrays gradients(TrainerHandle& t, const nb::object& first, const nb::object& second) {
  const Named given = named_of(first, second, "a batch");
  const std::vector<Batch> batches = batches_of(given.rest);
  if (batches.size() != 1) throw nb::type_error("expected one batch");
  return dict_of(t.use([&](Trainer& trainer) {
    return given.objective ? trainer.gradients(*given.objective, batches.front())
                           : trainer.gradients(batches.front());
  }));
}

Evaluation evaluate(TrainerHandle& t, const nb::object& first, const nb::object& second,
                    std::int64_t batch) {
  const Named given = named_of(first, second, "data");
  const Dataset data = dataset_of(given.rest);
  return t.use([&](Trainer& trainer) {
    return given.objective ? trainer.evaluate(*given.objective, data, batch)
                           : trainer.evaluate(data, batch);
  });
}

/// Views of a text such as "flip,shift=1"; True: those of with_views().
std::optional<TestViews> views_from(const nb::object& tta) {
  if (nb::isinstance<nb::str>(tta))
    return parse_views(nb::cast<std::string>(tta), "[evaluate] tta");
  if (tta.is_none()) return std::nullopt;
  if (!PyBool_Check(tta.ptr())) refuse({"evaluate", "tta"}, "a bool or a str", tta);
  return nb::cast<bool>(tta) ? std::optional(TestViews()) : std::nullopt;
}

History fit(TrainerHandle& t, const DataLike& data, const nb::args& others,
            const nb::kwargs& named) {
  if (others.size() > 0) {
    throw nb::type_error(
        "[Trainer.fit] takes one argument without a name: a Dataset, or inputs and targets as a "
        "pair, fit((x, y), epochs=3)");
  }
  nb::dict arguments = nb::borrow<nb::dict>(named);
  nb::object callbacks = nb::none();
  if (arguments.contains("callbacks")) callbacks = arguments.attr("pop")("callbacks");
  FitOptions how;
  options<FitOptions>().read(how, arguments, "Trainer.fit");
  const Dataset samples = dataset_of(data);
  PythonCallbacks heard(callbacks);
  how.callback = &heard;
  return t.use([&](Trainer& trainer) { return trainer.fit(samples, how); });
}

void bind_batches(nb::module_& m) {
  nb::class_<Batch>(m, "Batch", doc("Batch"))
      .def("__len__", &Batch::size)
      .def_prop_ro("size", &Batch::size, doc("Batch.size"))
      .def_prop_ro("epoch", &Batch::epoch, doc("Batch.epoch"))
      .def_prop_ro("position", &Batch::position, doc("Batch.position"))
      .def_prop_ro("data", &Batch::data, doc("Batch.data"))
      .def(
          "dataset", [](const Batch& b) { return without_gil([&] { return Dataset(b); }); },
          doc("Batch.Dataset"));
  nb::class_<BatchIterator>(m, "BatchIterator", "Goes through the batches of an epoch.")
      .def(
          "__iter__", [](const nb::object& self) { return self; },
          nb::sig("def __iter__(self) -> BatchIterator"))
      .def("__next__", &BatchIterator::next);
  nb::class_<Batches>(m, "Batches", doc("BatchRange"))
      .def("__len__", &Batches::size)
      .def("__iter__", [](const Batches& b) { return BatchIterator(b.range, b.range->begin()); });
  nb::class_<StepHandle>(m, "StepResult", doc("StepResult"))
      .def_prop_ro(
          "step", [](const StepHandle& s) { return s.step.step(); }, doc("StepResult.step"))
      .def_prop_ro(
          "loss",
          [](StepHandle& s) {
            return loss_number(s.trainer.use([&](Trainer&) { return s.step.loss(); }));
          },
          nb::sig("def loss(self) -> float"), doc("StepResult.loss"));
  nb::class_<StepResult>(m, "BatchResult", "A step of a fit: StepResult for Callback.on_batch().")
      .def_prop_ro("step", &StepResult::step, doc("StepResult.step"))
      .def_prop_ro(
          "loss",
          [](const StepResult& s) { return loss_number(without_gil([&] { return s.loss(); })); },
          nb::sig("def loss(self) -> float"), doc("StepResult.loss"));
}

void bind_state(nb::class_<TrainerHandle>& c) {
  c.def_prop_ro(
      "model", [](const TrainerHandle& t) { return t.model; }, doc("Trainer.model"));
  c.def(
      "best",
      [](TrainerHandle& t) { return ModelHandle(t.use([](Trainer& x) { return x.best(); })); },
      doc("Trainer.best"));
  c.def(
      "averaged",
      [](TrainerHandle& t, const std::string& objective) {
        return ModelHandle(t.use(
            [&](Trainer& x) { return objective.empty() ? x.averaged() : x.averaged(objective); }));
      },
      nb::arg("objective") = "", doc("Trainer.averaged"));
  c.def(
      "set_trains",
      [](TrainerHandle& t, const nb::object& trains, const std::string& objective) {
        std::vector<ParameterGroup> groups;
        if (!trains.is_none()) {
          groups = Convert<std::vector<ParameterGroup>>::from(trains, {"set_trains", "trains"});
        }
        t.use([&](Trainer& x) {
          objective.empty() ? x.set_trains(std::move(groups))
                            : x.set_trains(objective, std::move(groups));
        });
      },
      nb::arg("trains").none(), nb::arg("objective") = "",
      nb::sig(keep("def set_trains(self, trains: " + Convert<std::vector<ParameterGroup>>::type() +
                   " | None, objective: str = '') -> None")),
      doc("Trainer.set_trains"));
  c.def(
      "take_average",
      [](TrainerHandle& t, const std::string& objective) {
        t.use(
            [&](Trainer& x) { objective.empty() ? x.take_average() : x.take_average(objective); });
      },
      nb::arg("objective") = "", doc("Trainer.take_average"));
  c.def_prop_ro(
      "steps", [](TrainerHandle& t) { return t.use([](Trainer& x) { return x.steps(); }); },
      doc("Trainer.steps"));
  c.def_prop_ro(
      "epochs", [](TrainerHandle& t) { return t.use([](Trainer& x) { return x.epochs(); }); },
      doc("Trainer.epochs"));
  c.def(
      "state",
      [](TrainerHandle& t) { return dict_of(t.use([](Trainer& x) { return x.state(); })); },
      doc("Trainer.state"));
  c.def(
      "load_state",
      [](TrainerHandle& t, const NamedArrays& arrays) {
        const State state = state_of(arrays, "state");
        t.use([&](Trainer& x) { x.load_state(state); });
      },
      nb::arg("state"), doc("Trainer.load_state"));
}

void bind_state_files(nb::module_& m) {
  m.def(
      "write_state",
      [](const std::filesystem::path& path, const NamedArrays& arrays) {
        const State state = state_of(arrays, "state");
        without_gil([&] { write_state(path, state); });
      },
      nb::arg("path"), nb::arg("state"), doc("write_state"));
  m.def(
      "read_state",
      [](const std::filesystem::path& path) {
        return dict_of(without_gil([&] { return read_state(path); }));
      },
      nb::arg("path"), doc("read_state"));
  m.def(
      "read_checkpoint",
      [](const std::filesystem::path& folder) {
        return dict_of(without_gil([&] { return read_checkpoint(folder).state; }));
      },
      nb::arg("folder"), doc("read_checkpoint"));
  m.def("checkpoint_files", &checkpoint_files, nb::arg("folder"), doc("checkpoint_files"));
}

void bind_metrics(nb::module_& m) {
  m.def(
      "evaluate",
      [](ModelHandle& model, const DataLike& data, const nb::object& loss, std::int64_t batch,
         const LossOptions& loss_options, const nb::object& tta) {
        const Loss by = Convert<Loss>::from(loss, {"evaluate", "loss"});
        const std::optional<TestViews> views = views_from(tta);
        const Dataset samples = dataset_of(data);
        return model.use([&](Model& m) {
          return views ? evaluate_views(m, samples, *views, by, batch, loss_options)
                       : evaluate(m, samples, by, batch, loss_options);
        });
      },
      nb::arg("model"), nb::arg("data"), nb::arg("loss") = "automatic", nb::arg("batch") = 256,
      nb::arg("loss_options") = LossOptions(), nb::arg("tta") = false,
      nb::sig(keep("def evaluate(model: Model, data: " + std::string(DataLike::Name.text) +
                   ", loss: " + Convert<Loss>::type() +
                   " = 'automatic', batch: int = 256, loss_options: LossOptions = ..., "
                   "tta: bool | str = False) -> Evaluation")),
      doc("evaluate",
          "tta averages the outputs over several views of each image: \"flip\" or True, the "
          "mirrored one too; \"shift=1\", also moved by 1 pixel; or both, \"flip,shift=1\", as "
          "Model.with_views() does. Evaluation.one_view is then the result without. It copies the "
          "weights and compiles at each call."));
  m.def(
      "evaluate_metrics",
      [](ModelHandle& model, const DataLike& data, std::int64_t batch,
         std::optional<std::int32_t> ignore_index) {
        const Dataset samples = dataset_of(data);
        return model.use([&](Model& m) {
          return evaluate_metrics(m, samples, {batch, ignore_index});
        });
      },
      nb::arg("model"), nb::arg("data"), nb::arg("batch") = 256,
      nb::arg("ignore_index") = nb::none(), doc("evaluate_metrics"));
  m.def(
      "balanced_class_weights",
      [](const DataLike& data, std::optional<std::int32_t> ignore_index) {
        const Dataset samples = dataset_of(data);
        return without_gil([&] { return balanced_class_weights(samples, ignore_index); });
      },
      nb::arg("data"), nb::arg("ignore_index") = nb::none(), doc("balanced_class_weights"));
}

}  // namespace

void bind_trainers(nb::module_& m) {
  bind_batches(m);
  const std::string data = DataLike::Name.text;
  nb::class_<TrainerHandle> trainer(m, "Trainer", doc("Trainer"));
  trainer.def(
      "__init__",
      [](TrainerHandle* self, const ModelHandle& model, const nb::object& objective,
         const nb::kwargs& named) { new (self) TrainerHandle(made(model, objective, named)); },
      nb::arg("model"), nb::arg("objective") = nb::none(), nb::arg("options"),
      nb::sig(signature("__init__",
                        "self, model: Model, objective: Objective | dict[str, Objective] | "
                        "None = None",
                        options<Objective>().parameters() + ", " +
                            options<TrainerOptions>().parameters(),
                        "None")),
      doc("Trainer.Trainer",
          options<Objective>().arguments() + options<TrainerOptions>().arguments().substr(11)));
  trainer.def("fit", &fit, nb::arg("data"), nb::arg("others"), nb::arg("options"),
              nb::sig(signature("fit", "self, data: " + data,
                                options<FitOptions>().parameters() + ", callbacks: Callback | "
                                                                     "Sequence[Callback] | None = "
                                                                     "None",
                                "History")),
              doc("Trainer.fit", options<FitOptions>().arguments() +
                                     "  callbacks: callbacks of batches, epochs and the end\n"));
  trainer.def(
      "batches",
      [](TrainerHandle& t, const DataLike& data, const nb::kwargs& named) {
        BatchOptions how;
        options<BatchOptions>().read(how, nb::borrow<nb::dict>(named), "Trainer.batches");
        const Dataset samples = dataset_of(data);
        return Batches{std::make_shared<const BatchRange>(
            t.use([&](Trainer& x) { return x.batches(samples, how); }))};
      },
      nb::sig(signature("batches", "self, data: " + data, options<BatchOptions>().parameters(),
                        "Batches")),
      doc("Trainer.batches", options<BatchOptions>().arguments()));
  trainer.def("step", &step, nb::arg("batch"), nb::arg("of") = nb::none(),
              nb::sig("def step(self, batch: Batch | Sequence[Batch] | str, of: Batch "
                      "| Sequence[Batch] | None = None) -> StepResult"),
              doc("Trainer.step",
                  "Of several objectives, the name comes first: step(\"generator\", "
                  "batch). A list of batches counts as one batch."));
  trainer.def("gradients", &gradients, nb::arg("batch"), nb::arg("of") = nb::none(),
              nb::sig(
                  "def gradients(self, batch: Batch | str, of: Batch | None = None) -> dict[str, "
                  "Array]"),
              doc("Trainer.gradients"));
  trainer.def("evaluate", &evaluate, nb::arg("data"), nb::arg("of") = nb::none(),
              nb::arg("batch") = 256,
              nb::sig(keep("def evaluate(self, data: str | " + data + ", of: " + data +
                           " | None = None, batch: int = 256) -> Evaluation")),
              doc("Trainer.evaluate"));
  trainer.def(
      "predict",
      [](TrainerHandle& t, const DataLike& data, std::int64_t batch) {
        const Dataset samples = dataset_of(data);
        return array_of(t.use([&](Trainer& x) { return x.predict(samples, batch); }));
      },
      nb::arg("data"), nb::arg("batch") = 256, doc("Trainer.predict"));
  trainer.def(
      "minimize",
      [](TrainerHandle& t, const DataLike& data, const LBFGS& with) {
        const Dataset samples = dataset_of(data);
        return t.use([&](Trainer& x) { return x.minimize(samples, with); });
      },
      nb::arg("data"), nb::arg("options") = LBFGS(),
      nb::sig(keep("def minimize(self, data: " + data + ", options: LBFGS = ...) -> Minimum")),
      doc("Trainer.minimize"));
  bind_state(trainer);
  bind_state_files(m);
  bind_metrics(m);
}

}  // namespace linnet::python
