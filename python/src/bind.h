// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

// A function for each theme, in a file of its name. Those that others' signatures need come first.
namespace linnet::python {

void bind_errors(nb::module_& m);
void bind_tensors(nb::module_& m);
void bind_settings(nb::module_& m);
void bind_expressions(nb::module_& m);
void bind_functions(nb::module_& m);
void bind_networks(nb::module_& m);
void bind_datasets(nb::module_& m);
void bind_ranks(nb::module_& m);
void bind_options(nb::module_& m);
void bind_reports(nb::module_& m);
void bind_models(nb::module_& m);
void bind_predictors(nb::module_& m);
void bind_trainers(nb::module_& m);
void bind_fleet(nb::module_& m);
void bind_tables(nb::module_& m);
void bind_series(nb::module_& m);
void bind_tasks(nb::module_& m);
void bind_inspection(nb::module_& m);
void bind_importance(nb::module_& m);
void bind_intervals(nb::module_& m);
void bind_prediction_reports(nb::module_& m);
void bind_onnx(nb::module_& m);
void bind_generate(nb::module_& m);
void bind_quantize(nb::module_& m);
void bind_whiten(nb::module_& m);
void bind_run_logs(nb::module_& m);
/// Shows the fields of every class that has no text of its own; comes last.
void bind_reprs(nb::module_& m);

}  // namespace linnet::python
