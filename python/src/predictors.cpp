// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/predictor.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bind.h"
#include "docstrings.h"
#include "models.h"
#include "options.h"
#include "shapes.h"
#include "tensors.h"

namespace linnet::python {
namespace {

/// A predictor with the model whose process it checks.
struct PredictorHandle {
  ModelHandle model;
  std::unique_ptr<Predictor> predictor;

  const Predictor& get() const {
    model.check_process();
    return *predictor;
  }
};

/// Memory of the caller that an output is written to.
Tensor writable(nb::handle out) {
  if (nb::isinstance<Tensor>(out)) return nb::cast<Tensor>(out);
  Py_buffer view{};
  if (PyObject_GetBuffer(out.ptr(), &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE) !=
      0) {
    PyErr_Clear();
    throw nb::type_error("expected out to be a dense, writable array of float32, or of float64");
  }
  const auto held = hold(view);
  const std::string_view format = view.format == nullptr ? "" : view.format;
  if ((format != "f" && format != "d") || view.ndim > static_cast<int>(Shape::kMostAxes)) {
    throw nb::type_error("expected out to be a dense, writable array of float32, or of float64");
  }
  const std::vector<std::int64_t> dims(view.shape, view.shape + view.ndim);
  return Tensor::borrow_writable(format == "d" ? DType::f64 : DType::f32, Shape(dims),
                                 {static_cast<std::byte*>(view.buf),
                                  static_cast<std::size_t>(view.len)},
                                 held);
}

Array predict(const PredictorHandle& p, const ArrayLike& samples, const nb::object& out) {
  const Tensor in = tensor_of(samples, "samples");
  if (out.is_none()) {
    const Tensor made = without_gil([&] { return p.get().predict(in); });
    return array_of(made);
  }
  const Tensor to = writable(out);
  without_gil([&] { p.get().predict(in, to); });
  return nb::borrow<Array>(out);
}

std::vector<Classified> classify(const PredictorHandle& p, const nb::object& samples) {
  if (nb::isinstance<nb::dict>(samples)) {
    const State inputs = state_of(samples, "samples");
    return without_gil([&] { return p.get().classify(inputs); });
  }
  const Tensor in = tensor_of(samples, "samples");
  return without_gil([&] { return p.get().classify(in); });
}

}  // namespace

void bind_predictors(nb::module_& m) {
  nb::class_<Classified>(m, "Classified", doc("Classified"))
      .def_ro("label", &Classified::label, doc("Classified.label"))
      .def_ro("probability", &Classified::probability, doc("Classified.probability"))
      .def("__repr__", [](const Classified& c) {
        return fmt::format("Classified(label={}, probability={:.4f})",
                           nb::repr(nb::cast(c.label)).c_str(), c.probability);
      });
  nb::class_<PredictorHandle>(m, "Predictor", doc("Predictor"))
      .def(
          "__init__",
          [](PredictorHandle* self, ModelHandle& model, bool probabilities,
             const std::vector<std::int64_t>& batches, const DTypeLike& dtype) {
            const PredictorOptions with{probabilities, batches, dtype_of(dtype)};
            auto made = model.use([&](Model& m) { return std::make_unique<Predictor>(m, with); });
            new (self) PredictorHandle{model, std::move(made)};
          },
          nb::arg("model"), nb::kw_only(), nb::arg("probabilities") = false,
          nb::arg("batches") = std::vector<std::int64_t>(), nb::arg("dtype") = "f32",
          doc("Predictor.Predictor"))
      .def_prop_ro(
          "input_shape", [](const PredictorHandle& p) { return tuple_of(p.get().input_shape()); },
          nb::sig("def input_shape(self) -> tuple[int, ...]"), doc("Predictor.input_shape"))
      .def_prop_ro(
          "output_shape", [](const PredictorHandle& p) { return tuple_of(p.get().output_shape()); },
          nb::sig("def output_shape(self) -> tuple[int, ...]"), doc("Predictor.output_shape"))
      .def("predict", &predict, nb::arg("samples"), nb::arg("out") = nb::none(),
           nb::sig("def predict(self, samples: ArrayLike, out: "
                   "Array | None = None) -> "
                   "Array"),
           doc("Predictor.predict"))
      .def("__call__", &predict, nb::arg("samples"), nb::arg("out") = nb::none(),
           nb::sig("def __call__(self, samples: ArrayLike, out: "
                   "Array | None = None) -> "
                   "Array"))
      .def(
          "predict_all",
          [](const PredictorHandle& p, const NamedArrays& inputs) {
            const State in = state_of(inputs, "inputs");
            return dict_of(without_gil([&] { return p.get().predict(in); }));
          },
          nb::arg("inputs"),
          "Returns every output by name, from every input by name, N samples of each. Waits.")
      .def(
          "input",
          [](PredictorHandle& p, std::int64_t batch, const DTypeLike& dtype) {
            const DType type = dtype_of(dtype);
            return p.model.use([&](Model&) { return p.predictor->input(batch, type); });
          },
          nb::arg("batch"), nb::arg("dtype") = "f32", doc("Predictor.input"))
      .def(
          "output",
          [](PredictorHandle& p, std::int64_t batch, const DTypeLike& dtype) {
            const DType type = dtype_of(dtype);
            return p.model.use([&](Model&) { return p.predictor->output(batch, type); });
          },
          nb::arg("batch"), nb::arg("dtype") = "f32", doc("Predictor.output"))
      .def(
          "run",
          [](PredictorHandle& p, std::int64_t batch, const DTypeLike& dtype) {
            const DType type = dtype_of(dtype);
            p.model.use([&](Model&) { p.predictor->run(batch, type); });
          },
          nb::arg("batch"), nb::arg("dtype") = "f32", doc("Predictor.run"))
      .def(
          "wait", [](PredictorHandle& p) { p.model.use([&](Model&) { p.predictor->wait(); }); },
          doc("Predictor.wait"))
      .def("classify", &classify, nb::arg("samples"),
           nb::sig("def classify(self, samples: ArrayLike | dict[str, "
                   "ArrayLike]) -> list[Classified]"),
           doc("Predictor.classify"));
}

}  // namespace linnet::python
