// SPDX-License-Identifier: Apache-2.0
#include <linnet/importance.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "docstrings.h"
#include "fields.h"
#include "models.h"
#include "options.h"
#include "shown.h"
#include "tables.h"

namespace linnet::python {

template <>
const Options<ImportanceOptions>& options<ImportanceOptions>() {
  using O = ImportanceOptions;
  static const Options<O> all{"ImportanceOptions",
                              {option<&O::repeats>("repeats"), option<&O::seed>("seed"),
                               option<&O::batch>("batch")}};
  return all;
}
template <>
const Options<PartialDependenceOptions>& options<PartialDependenceOptions>() {
  using O = PartialDependenceOptions;
  static const Options<O> all{"PartialDependenceOptions",
                              {option<&O::points>("points"), option<&O::low>("low"),
                               option<&O::high>("high"), option<&O::most_rows>("most_rows"),
                               option<&O::batch>("batch")}};
  return all;
}

void bind_importance(nb::module_& m) {
  Fields<ColumnImportance>(m, "ColumnImportance")("column", &ColumnImportance::column)(
      "mean", &ColumnImportance::mean)("std", &ColumnImportance::std)("losses",
                                                                      &ColumnImportance::losses);
  Fields<Importance> importance(m, "Importance");
  importance("score", &Importance::score)("baseline", &Importance::baseline)("columns",
                                                                             &Importance::columns);
  shown(importance.bound(), "_repr_html_", "importance_html");
  m.def(
      "permutation_importance",
      [](ModelHandle& model, const nb::object& rows, const nb::kwargs& named) {
        ImportanceOptions how;
        options<ImportanceOptions>().read(how, nb::borrow<nb::dict>(named),
                                          "permutation_importance");
        const Table table = table_of(rows);
        return model.use([&](Model& m) { return permutation_importance(m, table, how); });
      },
      nb::arg("model"), nb::arg("rows"), nb::arg("options"),
      nb::sig(signature("permutation_importance", "model: Model, rows: Any",
                        options<ImportanceOptions>().parameters(), "Importance")),
      doc("permutation_importance", options<ImportanceOptions>().arguments()));

  Fields<PartialDependence> dependence(m, "PartialDependence");
  dependence("column", &PartialDependence::column)("texts", &PartialDependence::texts)(
      "values", &PartialDependence::values)("outputs",
                                            &PartialDependence::outputs)("means",
                                                                         &PartialDependence::means);
  m.def(
      "partial_dependence",
      [](ModelHandle& model, const nb::object& rows, const std::string& column,
         const nb::kwargs& named) {
        PartialDependenceOptions how;
        options<PartialDependenceOptions>().read(how, nb::borrow<nb::dict>(named),
                                                 "partial_dependence");
        const Table table = table_of(rows);
        return model.use([&](Model& m) { return partial_dependence(m, table, column, how); });
      },
      nb::arg("model"), nb::arg("rows"), nb::arg("column"), nb::arg("options"),
      nb::sig(signature("partial_dependence", "model: Model, rows: Any, column: str",
                        options<PartialDependenceOptions>().parameters(), "PartialDependence")),
      doc("partial_dependence", options<PartialDependenceOptions>().arguments()));
}

}  // namespace linnet::python
