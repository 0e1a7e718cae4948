// SPDX-License-Identifier: Apache-2.0
#include <linnet/intervals.h>

#include <nanobind/stl/string.h>

#include "bind.h"
#include "datasets.h"
#include "docstrings.h"
#include "models.h"
#include "tensors.h"

namespace linnet::python {

void bind_intervals(nb::module_& m) {
  m.def(
      "calibrate_intervals",
      [](ModelHandle& model, const DataLike& held_out, std::int64_t batch) {
        const Dataset data = dataset_of(held_out);
        model.use([&](Model& of) { calibrate_intervals(of, data, batch); });
      },
      nb::arg("model"), nb::arg("held_out"), nb::arg("batch") = 256, doc("calibrate_intervals"));
  m.def(
      "interval_half_widths",
      [](ModelHandle& model, double coverage, const std::string& output) {
        return array_of(Tensor(
            model.use([&](Model& of) { return interval_half_widths(of, coverage, output); })));
      },
      nb::arg("model"), nb::arg("coverage"), nb::arg("output") = "", doc("interval_half_widths"));
  nb::class_<PredictedIntervals>(m, "PredictedIntervals", doc("PredictedIntervals"))
      .def_prop_ro(
          "value", [](const PredictedIntervals& all) { return array_of(all.value); },
          doc("PredictedIntervals.value"))
      .def_prop_ro(
          "low", [](const PredictedIntervals& all) { return array_of(all.low); },
          doc("PredictedIntervals.low"))
      .def_prop_ro(
          "high", [](const PredictedIntervals& all) { return array_of(all.high); },
          doc("PredictedIntervals.high"));
  m.def(
      "predict_intervals",
      [](ModelHandle& model, const DataLike& data, double coverage, std::int64_t batch) {
        const Dataset samples = dataset_of(data);
        return model.use(
            [&](Model& of) { return predict_intervals(of, samples, coverage, batch); });
      },
      nb::arg("model"), nb::arg("data"), nb::arg("coverage"), nb::arg("batch") = 256,
      doc("predict_intervals"));
}

}  // namespace linnet::python
