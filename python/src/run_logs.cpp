// SPDX-License-Identifier: Apache-2.0
// The library's logs, which linnet/callbacks.py wraps as callbacks of Python.
#include <linnet/run_log.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bind.h"
#include "docstrings.h"
#include "models.h"
#include "tensors.h"

namespace linnet::python {
namespace {

/// A class with the two calls of which all logs hear. The lock is released while a file is written.
template <class Log>
nb::class_<Log> bind_log(nb::module_& m, const char* name) {
  return nb::class_<Log>(m, name)
      .def("on_resume",
           [](Log& log, const ResumeReport& report) {
             without_gil([&] { log.on_resume(report); });
           })
      .def("on_epoch",
           [](Log& log, const EpochReport& report) { without_gil([&] { log.on_epoch(report); }); });
}

void bind_tensorboard(nb::module_& m) {
  bind_log<TensorBoardLog>(m, "_TensorBoardLog")
      .def(
          "__init__",
          [](TensorBoardLog* self, const std::filesystem::path& folder, ModelHandle* model,
             bool histograms, bool graph) {
            TensorBoardOptions how{.histograms = histograms, .graph = graph};
            if (model != nullptr) how.model = model->model();
            without_gil([&] { new (self) TensorBoardLog(folder, std::move(how)); });
          },
          nb::arg("folder"), nb::arg("model").none(), nb::arg("histograms"), nb::arg("graph"))
      .def(
          "scalar",
          [](TensorBoardLog& log, const std::string& tag, double value, std::int64_t step) {
            log.scalar(tag, value, step);
          },
          nb::arg("tag"), nb::arg("value"), nb::arg("step"))
      .def(
          "histogram",
          [](TensorBoardLog& log, const std::string& tag, const ArrayLike& values,
             std::int64_t step) { log.histogram(tag, tensor_of(values, "values"), step); },
          nb::arg("tag"), nb::arg("values"), nb::arg("step"))
      .def(
          "image",
          [](TensorBoardLog& log, const std::string& tag, const ArrayLike& pixels,
             std::int64_t step) { log.image(tag, tensor_of(pixels, "pixels"), step); },
          nb::arg("tag"), nb::arg("pixels"), nb::arg("step"));
}

}  // namespace

void bind_run_logs(nb::module_& m) {
  bind_log<CsvLog>(m, "_CsvLog").def(nb::init<std::filesystem::path>(), nb::arg("file"));
  bind_log<JsonLinesLog>(m, "_JsonLinesLog")
      .def(nb::init<std::filesystem::path>(), nb::arg("file"));
  bind_tensorboard(m);
}

}  // namespace linnet::python
