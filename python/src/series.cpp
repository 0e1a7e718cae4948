// SPDX-License-Identifier: Apache-2.0
#include <linnet/series_task.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "datasets.h"
#include "docstrings.h"
#include "fields.h"
#include "models.h"
#include "options.h"
#include "tables.h"
#include "task_model.h"
#include "tensors.h"

namespace linnet::python {

namespace {

void bind_windows(nb::module_& m) {
  Fields<SeriesPlace>(m, "SeriesPlace")("entity", &SeriesPlace::entity)("time", &SeriesPlace::time);
  nb::class_<SeriesWindows>(m, "SeriesWindows", doc("SeriesWindows"))
      .def("__len__", &SeriesWindows::size)
      .def(
          "data", [](const SeriesWindows& w) { return without_gil([&] { return w.data(); }); },
          doc("SeriesWindows.data"))
      .def_prop_ro("notes", &SeriesWindows::notes, doc("SeriesWindows.notes"))
      .def(
          "place",
          [](const SeriesWindows& w, std::int64_t window, std::int64_t step) {
            if (window < 0 || window >= w.size() || step < 0) {
              throw nb::index_error("expected a window and a step of these windows");
            }
            return w.place(window, step);
          },
          nb::arg("window"), nb::arg("step"), doc("SeriesWindows.place"));
}

void bind_transform(nb::module_& m) {
  nb::class_<SeriesTransform>(m, "SeriesTransform", doc("SeriesTransform"))
      .def(
          "windows",
          [](const SeriesTransform& t, const nb::object& rows) {
            const Table table = table_of(rows);
            return without_gil([&] { return t.windows(table); });
          },
          nb::arg("rows"), nb::sig("def windows(self, rows: Any) -> SeriesWindows"),
          doc("SeriesTransform.windows"))
      .def_prop_ro("targets", &SeriesTransform::targets, doc("SeriesTransform.targets"))
      .def_prop_ro("time_column", &SeriesTransform::time_column, doc("SeriesTransform.time_column"))
      .def_prop_ro("entity_column", &SeriesTransform::entity_column,
                   doc("SeriesTransform.entity_column"))
      .def_prop_ro("past", &SeriesTransform::past, doc("SeriesTransform.past"))
      .def_prop_ro("future", &SeriesTransform::future, doc("SeriesTransform.future"))
      .def_prop_ro("season", &SeriesTransform::season, doc("SeriesTransform.season"))
      .def_prop_ro("channels", &SeriesTransform::channels, doc("SeriesTransform.channels"))
      .def_prop_ro("known_channels", &SeriesTransform::known_channels,
                   doc("SeriesTransform.known_channels"))
      .def_prop_ro("entities", &SeriesTransform::entities, doc("SeriesTransform.entities"))
      .def("to_json", &SeriesTransform::to_json, doc("SeriesTransform.to_json"))
      .def_static("from_json", &SeriesTransform::from_json, nb::arg("text"),
                  doc("SeriesTransform.from_json"));
}

void bind_task(nb::module_& m) {
  Fields<SeriesTask> task(m, "SeriesTask");
  task("transform", &SeriesTask::transform)("test", &SeriesTask::test)(
      "validation", &SeriesTask::validation)("data", &SeriesTask::data)(
      "network", &SeriesTask::network)("training", &SeriesTask::training)("notes",
                                                                          &SeriesTask::notes);
  bind_model(task.bound(), "SeriesTask", [](const SeriesTask& of, Model& model) {
    model.set_series(of.transform);
    model.set_weights(of.weights);
  });
  task.bound().def_prop_ro(
      "weights", [](const SeriesTask& of) { return dict_of(of.weights); },
      "Returns the initial weights of the linear part of `network`, for\n"
      "Model.set_weights(weights, partial=True): a ridge regression.");
  m.def(
      "series_task",
      [](const nb::object& rows, const nb::object& targets, const nb::kwargs& named) {
        const Table table = table_of(rows);
        SeriesTaskOptions how;
        const Place place{"series_task", "targets"};
        if (nb::isinstance<nb::str>(targets)) {
          how.targets = {Convert<std::string>::from(targets, place)};
        } else {
          how.targets = Convert<std::vector<std::string>>::from(targets, place);
        }
        options<SeriesTaskOptions>().read(how, nb::borrow<nb::dict>(named), "series_task");
        return without_gil([&] { return series_task(table, how); });
      },
      nb::arg("table"), nb::arg("targets"), nb::arg("options"),
      nb::sig(signature("series_task", "table: Any, targets: str | Sequence[str]",
                        options<SeriesTaskOptions>().parameters(), "SeriesTask")),
      doc("series_task", options<SeriesTaskOptions>().arguments()));
}

void bind_forecasts(nb::module_& m) {
  Fields<ForecastErrors>(m, "ForecastErrors")("mae", &ForecastErrors::mae)(
      "rmse", &ForecastErrors::rmse)("all_mae", &ForecastErrors::all_mae)(
      "all_rmse", &ForecastErrors::all_rmse)("mase", &ForecastErrors::mase);
  Fields<SeriesScore>(m, "SeriesScore")("target", &SeriesScore::target)(
      "model", &SeriesScore::model)("persistence",
                                    &SeriesScore::persistence)("seasonal", &SeriesScore::seasonal);
  Fields<ForecastStep>(m, "ForecastStep")("place", &ForecastStep::place)(
      "values", &ForecastStep::values)("low", &ForecastStep::low)("high", &ForecastStep::high);
  m.def(
      "evaluate_series",
      [](ModelHandle& model, const SeriesWindows& windows, std::int64_t batch) {
        return model.use([&](Model& m) { return evaluate_series(m, windows, batch); });
      },
      nb::arg("model"), nb::arg("windows"), nb::arg("batch") = 256, doc("evaluate_series"));
  m.def(
      "forecast_windows",
      [](ModelHandle& model, const SeriesWindows& windows, std::int64_t batch) {
        std::vector<Array> all;
        for (const Tensor& one :
             model.use([&](Model& m) { return forecast_windows(m, windows, batch); })) {
          all.push_back(array_of(one));
        }
        return all;
      },
      nb::arg("model"), nb::arg("windows"), nb::arg("batch") = 256, doc("forecast_windows"));
  m.def(
      "forecast",
      [](ModelHandle& model, const nb::object& rows, double interval) {
        const Table table = table_of(rows);
        return model.use([&](Model& m) { return forecast(m, table, interval); });
      },
      nb::arg("model"), nb::arg("rows"), nb::arg("interval") = 0.0,
      nb::sig("def forecast(model: Model, rows: Any, interval: float = 0.0) -> list[ForecastStep]"),
      doc("forecast"));
}

}  // namespace

void bind_series(nb::module_& m) {
  bind_windows(m);
  bind_transform(m);
  bind_task(m);
  bind_forecasts(m);
}

}  // namespace linnet::python
