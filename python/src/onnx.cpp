// SPDX-License-Identifier: Apache-2.0
#include <linnet/onnx.h>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "docstrings.h"
#include "fields.h"
#include "models.h"
#include "options.h"
#include "shapes.h"

namespace linnet::python {

template <>
const Options<OnnxImportOptions>& options<OnnxImportOptions>() {
  using O = OnnxImportOptions;
  static const Options<O> all{"OnnxImportOptions",
                              {option<&O::shapes>("shapes"), option<&O::batch_axis>("batch_axis"),
                               option<&O::constants>("constants"), option<&O::until>("until")}};
  return all;
}

namespace {

/// An imported model, whose calls take turns.
struct Imported {
  ModelHandle model;
  OnnxImport made;
};

}  // namespace

void bind_onnx(nb::module_& m) {
  Fields<OnnxPort> port(m, "OnnxPort");
  port("name", &OnnxPort::name)("batch", &OnnxPort::batch)("type",
                                                           &OnnxPort::type)("below",
                                                                            &OnnxPort::below);
  port.bound()
      .def_ro("axes", &OnnxPort::axes, doc("OnnxPort.axes"))
      .def_ro("dims", &OnnxPort::dims, doc("OnnxPort.dims"))
      .def_prop_ro(
          "sample", [](const OnnxPort& p) { return tuple_of(p.sample); },
          nb::sig("def sample(self) -> tuple[int, ...]"), doc("OnnxPort.sample"));
  const auto of = [](auto OnnxImport::*field) {
    return [field](const Imported& self) -> const auto& { return self.made.*field; };
  };
  nb::class_<Imported>(m, "OnnxImport", doc("OnnxImport"))
      .def_ro("model", &Imported::model, doc("OnnxImport.model"))
      .def_prop_ro("inputs", of(&OnnxImport::inputs), doc("OnnxImport.inputs"))
      .def_prop_ro("outputs", of(&OnnxImport::outputs), doc("OnnxImport.outputs"))
      .def_prop_ro("producer", of(&OnnxImport::producer), doc("OnnxImport.producer"))
      .def_prop_ro("metadata", of(&OnnxImport::metadata), doc("OnnxImport.metadata"))
      .def_prop_ro("left_out", of(&OnnxImport::left_out), doc("OnnxImport.left_out"));
  m.def(
      "import_onnx",
      [](const std::filesystem::path& path, const nb::kwargs& named) {
        nb::dict arguments = nb::borrow<nb::dict>(named);
        const auto how = take<OnnxImportOptions>(arguments, "import_onnx");
        const auto on = take<ModelOptions>(arguments, "import_onnx");
        refuse_others(arguments, "import_onnx",
                      {"shapes", "batch_axis", "constants", "until", "device", "threads"});
        const OnnxImport made = without_gil([&] { return import_onnx(path, how, on); });
        return Imported{ModelHandle(made.model), made};
      },
      nb::sig(signature("import_onnx", "path: PathLike",
                        options<OnnxImportOptions>().parameters() + ", " +
                            options<ModelOptions>().parameters(),
                        "OnnxImport")),
      doc("import_onnx", options<OnnxImportOptions>().arguments()));
  m.def(
      "export_onnx",
      [](ModelHandle& model, const std::filesystem::path& path, std::int64_t opset) {
        model.use([&](Model& m) { export_onnx(m, path, {.opset = opset}); });
      },
      nb::arg("model"), nb::arg("path"), nb::kw_only(),
      nb::arg("opset") = OnnxExportOptions().opset,
      nb::sig("def export_onnx(model: Model, path: PathLike, *, opset: int = 17) -> None"),
      doc("export_onnx"));
  Fields<OnnxOperator>(m, "OnnxOperator")("name", &OnnxOperator::name)("limit",
                                                                       &OnnxOperator::limit);
  m.def("onnx_operators", &onnx_operators, doc("onnx_operators"));
}

}  // namespace linnet::python
