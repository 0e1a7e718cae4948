// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/table_task.h>
#include <linnet/tables.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "callbacks.h"
#include "datasets.h"
#include "docstrings.h"
#include "models.h"
#include "tables.h"
#include "task_model.h"
#include "training.h"

namespace linnet::python {

Table table_of(nb::handle value) {
  if (nb::isinstance<Table>(value)) return nb::cast<Table>(value);
  const nb::object made = nb::module_::import_("linnet._frames").attr("table")(value);
  if (!nb::isinstance<Table>(made)) throw nb::type_error("expected a Table");
  return nb::cast<Table>(made);
}

namespace {

TableTargets targets_of(nb::handle value, const Place& place) {
  if (nb::isinstance<nb::str>(value)) return {Convert<std::string>::from(value, place)};
  return {Convert<std::vector<std::string>>::from(value, place)};
}

void bind_table(nb::module_& m) {
  nb::class_<TableColumn>(m, "TableColumn", doc("TableColumn"))
      .def_ro("name", &TableColumn::name, doc("TableColumn.name"))
      .def_prop_ro(
          "type", [](const TableColumn& c) { return Convert<ColumnType>::to(c.type); },
          nb::sig(keep("def type(self) -> " + Convert<ColumnType>::type())),
          doc("TableColumn.type"))
      .def_ro("missing", &TableColumn::missing, doc("TableColumn.missing"))
      .def_ro("distinct", &TableColumn::distinct, doc("TableColumn.distinct"));
  nb::class_<Table>(m, "Table", doc("Table"))
      .def("__len__", &Table::rows)
      .def_prop_ro("name", &Table::name, doc("Table.name"))
      .def_prop_ro("rows", &Table::rows, doc("Table.rows"))
      .def_prop_ro("columns", &Table::columns, doc("Table.columns"))
      .def_prop_ro("notes", &Table::notes, doc("Table.notes"));
  const auto read = [](const nb::kwargs& named, std::string_view owner) {
    TableOptions how;
    options<TableOptions>().read(how, nb::borrow<nb::dict>(named), owner);
    return how;
  };
  m.def(
      "read_table",
      [read](const std::filesystem::path& path, const nb::kwargs& named) {
        const TableOptions how = read(named, "read_table");
        const nb::object name = nb::cast(path.string());
        if (is_true(nb::module_::import_("linnet._frames").attr("is_columnar")(name))) {
          if (named.size() > 0) {
            throw nb::type_error(fmt::format("[read_table] takes no options for '{}': they say how "
                                             "delimited text is read",
                                             path.string())
                                     .c_str());
          }
          return table_of(name);
        }
        return without_gil([&] { return read_table(path, how); });
      },
      nb::sig(
          signature("read_table", "path: PathLike", options<TableOptions>().parameters(), "Table")),
      doc("read_table", options<TableOptions>().arguments()));
  m.def(
      "parse_table",
      [read](const std::string& text, const std::string& name, const nb::kwargs& named) {
        const TableOptions how = read(named, "parse_table");
        return without_gil([&] { return parse_table(text, name, how); });
      },
      nb::arg("text"), nb::arg("name") = "table", nb::arg("options"),
      nb::sig(signature("parse_table", "text: str, name: str = 'table'",
                        options<TableOptions>().parameters(), "Table")),
      doc("parse_table", options<TableOptions>().arguments()));
}

void bind_transform(nb::module_& m) {
  nb::class_<TableTransform>(m, "TableTransform", doc("TableTransform"))
      .def(
          "transform",
          [](const TableTransform& t, const nb::object& rows) {
            const Table table = table_of(rows);
            return without_gil([&] { return t.transform(table); });
          },
          nb::arg("rows"), nb::sig("def transform(self, rows: Any) -> Dataset"),
          doc("TableTransform.transform"))
      .def(
          "inputs",
          [](const TableTransform& t, const nb::object& rows) {
            const Table table = table_of(rows);
            return without_gil([&] { return t.inputs(table); });
          },
          nb::arg("rows"), nb::sig("def inputs(self, rows: Any) -> Dataset"),
          doc("TableTransform.inputs"))
      .def_static(
          "fit",
          [](const nb::object& rows, const nb::object& target, const TableTransformOptions& how) {
            const Table table = table_of(rows);
            const TableTargets targets = targets_of(target, {"TableTransform.fit", "target"});
            return without_gil([&] { return TableTransform::fit(table, targets, how); });
          },
          nb::arg("rows"), nb::arg("target"), nb::arg("options") = TableTransformOptions(),
          nb::sig("def fit(rows: Any, target: str | Sequence[str], options: "
                  "TableTransformOptions = ...) -> TableTransform"),
          doc("TableTransform.fit"))
      .def_static("from_json", &TableTransform::from_json, nb::arg("text"),
                  doc("TableTransform.from_json"))
      .def_prop_ro("empty", &TableTransform::empty, doc("TableTransform.empty"))
      .def_prop_ro("target", &TableTransform::target, doc("TableTransform.target"))
      .def_prop_ro("targets", &TableTransform::targets, doc("TableTransform.targets"))
      .def_prop_ro(
          "target_kind",
          [](const TableTransform& t) { return Convert<TableTarget>::to(t.target_kind()); },
          nb::sig(keep("def target_kind(self) -> " + Convert<TableTarget>::type())),
          doc("TableTransform.target_kind"))
      .def_prop_ro("target_means", &TableTransform::target_means,
                   doc("TableTransform.target_means"))
      .def_prop_ro("target_stds", &TableTransform::target_stds, doc("TableTransform.target_stds"))
      .def_prop_ro("id_columns", &TableTransform::id_columns, doc("TableTransform.id_columns"))
      .def_prop_ro("vocabulary", &TableTransform::vocabulary, doc("TableTransform.vocabulary"))
      .def_prop_ro("classes", &TableTransform::classes, doc("TableTransform.classes"))
      .def_prop_ro("input_columns", &TableTransform::input_columns,
                   doc("TableTransform.input_columns"))
      .def_prop_ro("feature_names", &TableTransform::feature_names,
                   doc("TableTransform.feature_names"))
      .def("to_json", &TableTransform::to_json, doc("TableTransform.to_json"));
  nb::class_<TableTask> task(m, "TableTask", doc("TableTask"));
  task.def_ro("transform", &TableTask::transform, doc("TableTask.transform"))
      .def_ro("data", &TableTask::data, doc("TableTask.data"))
      .def_ro("network", &TableTask::network, doc("TableTask.network"))
      .def_ro("training", &TableTask::training, doc("TableTask.training"))
      .def_ro("test_rows", &TableTask::test_rows, doc("TableTask.test_rows"))
      .def_ro("validation_rows", &TableTask::validation_rows, doc("TableTask.validation_rows"))
      .def_ro("notes", &TableTask::notes, doc("TableTask.notes"));
  bind_model(task, "TableTask",
             [](const TableTask& of, Model& model) { model.set_table(of.transform); });
  m.def(
      "table_task",
      [](const nb::object& rows, const nb::object& target, const nb::kwargs& named) {
        const Table table = table_of(rows);
        TableTaskOptions how;
        how.target = targets_of(target, {"table_task", "target"});
        options<TableTaskOptions>().read(how, nb::borrow<nb::dict>(named), "table_task");
        return without_gil([&] { return table_task(table, how); });
      },
      nb::arg("table"), nb::arg("target"), nb::arg("options"),
      nb::sig(signature("table_task", "table: Any, target: str | Sequence[str]",
                        options<TableTaskOptions>().parameters(), "TableTask")),
      doc("table_task", options<TableTaskOptions>().arguments()));
  m.def("table_network", &table_network, nb::arg("transform"), nb::arg("rows"),
        doc("table_network"));
  m.def("add_target_scale", &add_target_scale, nb::arg("network"), nb::arg("transform"),
        doc("add_target_scale"));
  m.def("table_training", &table_training, nb::arg("transform"), nb::arg("rows"),
        doc("table_training"));
}

History trained(ModelHandle& model, const nb::object& data, const nb::object& training,
                const nb::kwargs& named) {
  nb::dict arguments = nb::borrow<nb::dict>(named);
  nb::object callbacks = nb::none();
  if (arguments.contains("callbacks")) callbacks = arguments.attr("pop")("callbacks");
  TrainingOptions how;
  if (!training.is_none()) {
    how = Convert<TrainingOptions>::from(training, {"train", "training"});
  }
  options<TrainingOptions>().read(how, arguments, "train");
  const Splits splits =
      nb::isinstance<Splits>(data) ? nb::cast<Splits>(data) : Splits{.train = dataset_of(data)};
  PythonCallbacks heard(callbacks);
  return model.use([&](Model& m) { return train(m, splits, how, &heard); });
}

}  // namespace

void bind_tables(nb::module_& m) {
  bind_table(m);
  bind_transform(m);
  m.def("train", &trained, nb::arg("model"), nb::arg("data"), nb::arg("training") = nb::none(),
        nb::arg("options"),
        nb::sig(signature("train",
                          "model: Model, data: Splits | " + std::string(DataLike::Name.text) +
                              ", training: TrainingOptions | None = None",
                          options<TrainingOptions>().parameters() +
                              ", callbacks: Callback | "
                              "Sequence[Callback] | None = None",
                          "History")),
        doc("train", "Arguments that are given replace those of `training`.\n\n" +
                         options<TrainingOptions>().arguments()));
}

}  // namespace linnet::python
