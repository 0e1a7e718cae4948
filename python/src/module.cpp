// SPDX-License-Identifier: Apache-2.0
#include <linnet/version.h>
#include <nanobind/stl/string_view.h>

#include "bind.h"

NB_MODULE(_linnet, m) {
  using namespace linnet::python;
  nb::set_leak_warnings(false);
  m.doc() = "Linnet's library; `import linnet` brings what it has.";
  m.attr("__version__") = nb::cast(linnet::version());
  bind_errors(m);
  bind_tensors(m);
  bind_settings(m);
  bind_expressions(m);
  bind_functions(m);
  bind_networks(m);
  bind_reports(m);
  bind_datasets(m);
  bind_ranks(m);
  bind_options(m);
  bind_models(m);
  bind_predictors(m);
  bind_trainers(m);
  bind_fleet(m);
  bind_tables(m);
  bind_series(m);
  bind_tasks(m);
  bind_inspection(m);
  bind_importance(m);
  bind_intervals(m);
  bind_generate(m);
  bind_quantize(m);
  bind_whiten(m);
  bind_run_logs(m);
  bind_prediction_reports(m);
  bind_onnx(m);
  bind_reprs(m);
}
