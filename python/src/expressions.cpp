// SPDX-License-Identifier: Apache-2.0
#include "expressions.h"

#include <fmt/format.h>
#include <linnet/cross_attention.h>
#include <linnet/layer.h>
#include <nanobind/operators.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "describe/field.h"
#include "docstrings.h"
#include "nn/layer_fields.h"
#include "settings.h"
#include "shapes.h"

namespace linnet::python {
namespace {

using Binary = Expression (*)(const Expression&, const Expression&);
using WithNumber = Expression (*)(const Expression&, double);
using FromNumber = Expression (*)(double, const Expression&);

void binary(nb::class_<Traced>& c, const char* name, Binary f, WithNumber g) {
  c.def(
      name, [f](const Traced& a, const Traced& b) { return a.with(f(a.get(), b.get())); },
      nb::is_operator());
  c.def(
      name, [g](const Traced& a, double b) { return a.with(g(a.get(), b)); }, nb::is_operator());
}
void reversed(nb::class_<Traced>& c, const char* name, FromNumber f) {
  c.def(
      name, [f](const Traced& b, double a) { return b.with(f(a, b.get())); }, nb::is_operator());
}

void bind_operators(nb::class_<Traced>& c) {
  binary(c, "__add__", linnet::operator+, linnet::operator+);
  binary(c, "__sub__", linnet::operator-, linnet::operator-);
  binary(c, "__mul__", linnet::operator*, linnet::operator*);
  binary(c, "__truediv__", linnet::operator/, linnet::operator/);
  binary(c, "__lt__", linnet::operator<, linnet::operator<);
  binary(c, "__le__", linnet::operator<=, linnet::operator<=);
  binary(c, "__gt__", linnet::operator>, linnet::operator>);
  binary(c, "__ge__", linnet::operator>=, linnet::operator>=);
  reversed(c, "__radd__", linnet::operator+);
  reversed(c, "__rsub__", linnet::operator-);
  reversed(c, "__rmul__", linnet::operator*);
  reversed(c, "__rtruediv__", linnet::operator/);
  c.def(
      "__neg__", [](const Traced& x) { return x.with(-x.get()); }, nb::is_operator());
  c.def(
      "__abs__", [](const Traced& x) { return x.with(abs(x.get())); }, nb::is_operator());
  c.def(
      "__pow__", [](const Traced& x, double e) { return x.with(pow(x.get(), e)); },
      nb::is_operator());
  c.def(
      "__matmul__",
      [](const Traced& a, const Traced& b) { return a.with(matmul(a.get(), b.get())); },
      nb::is_operator());
  c.def(
      "__or__", [](const Traced& x, const Layer& layer) { return x.with(x.get() | layer); },
      nb::is_operator(), doc("operator|"));
  c.def("__bool__", [](const Traced& /*x*/) -> bool {
    throw nb::type_error(
        "an expression has no truth value before the network runs; use linnet.where() and "
        "linnet.logical_and()");
  });
  for (const char* name : {"__eq__", "__ne__"}) {
    c.def(
        name,
        [](const Traced& /*x*/, const nb::object& /*other*/) -> bool {
          throw nb::type_error(
              "expressions are compared by linnet.equal() and linnet.not_equal(), element by "
              "element");
        },
        nb::arg("other").none());
  }
  c.def("__hash__", [](const nb::object& x) { return reinterpret_cast<std::intptr_t>(x.ptr()); });
  c.def("__iter__", [](const Traced& /*x*/) -> nb::object {
    throw nb::type_error("an expression is not iterable; x[i] is a part of it");
  });
  // NumPy would compute with an array of one object: the mean of that is the expression itself.
  c.def(
      "__array__",
      [](const Traced& /*x*/, const nb::args& /*given*/,
         const nb::kwargs& /*named*/) -> nb::object {
        throw nb::type_error(
            "an expression has no values before the network runs: use the functions of linnet, "
            "e.g. linnet.mean(x), not those of NumPy");
      },
      nb::sig("def __array__(self, *args: Any, **kwargs: Any) -> typing.NoReturn"));
  c.def(
      "__getattr__",
      [](const Traced& /*x*/, const std::string& name) -> nb::object {
        const bool is_function =
            !name.starts_with("_") &&
            PyCallable_Check(
                nb::getattr(nb::module_::import_("linnet"), name.c_str(), nb::none()).ptr()) != 0;
        throw nb::attribute_error(
            fmt::format("an expression has no attribute '{}'{}", name,
                        is_function ? fmt::format("; use linnet.{}(x)", name) : "")
                .c_str());
      },
      nb::sig("def __getattr__(self, name: str) -> typing.NoReturn"));
}

/// x[1:, ..., 2]: slices, and numbers, which drop their axis.
Traced item(const Traced& x, const nb::handle& index) {
  const nb::tuple indices =
      nb::isinstance<nb::tuple>(index) ? nb::cast<nb::tuple>(index) : nb::make_tuple(index);
  Expression out = x.get();
  const auto rank = static_cast<std::int64_t>(out.shape().rank());
  std::int64_t axis = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const nb::handle one = indices[i];
    if (one.is(nb::ellipsis())) {
      axis = rank - static_cast<std::int64_t>(indices.size() - i - 1);
      axis -= rank - static_cast<std::int64_t>(out.shape().rank());
      if (axis < 0) throw nb::index_error("more indices than axes");
      continue;
    }
    if (axis >= static_cast<std::int64_t>(out.shape().rank())) {
      throw nb::index_error(
          fmt::format("more indices than the axes of {}", to_string(x.get().shape())).c_str());
    }
    if (PySlice_Check(one.ptr()) != 0) {
      const auto number = [&](const char* name, std::int64_t otherwise) {
        const nb::object value = one.attr(name);
        return value.is_none() ? otherwise : nb::cast<std::int64_t>(value);
      };
      const std::int64_t stop = number("stop", kToEnd);
      out = slice(out, axis, number("start", 0), stop, number("step", 1));
      ++axis;
    } else if (PyIndex_Check(one.ptr()) != 0) {
      const auto at = nb::cast<std::int64_t>(one);
      const std::int64_t dim = out.shape()[static_cast<std::size_t>(axis)];
      if (at < -dim || at >= dim) {
        throw nb::index_error(
            fmt::format("index {} is outside of axis {} of {}", at, axis, to_string(out.shape()))
                .c_str());
      }
      out = slice(out, axis, at, at == -1 ? kToEnd : at + 1);
      const Shape shape = out.shape();
      std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
      dims.erase(dims.begin() + axis);
      out = reshape(out, Shape(dims));
    } else {
      throw nb::type_error("expected an expression's index to be a slice, an int or ...");
    }
  }
  return x.with(out);
}

/// Weights of a custom layer, as long as its function runs.
struct TracedWeights {
  LayerWeights* weights;
  std::shared_ptr<Tracing> tracing;
};

Expression result_of(const nb::object& result, const std::string& what) {
  if (!nb::isinstance<Traced>(result)) {
    throw nb::type_error(fmt::format("expected the function of {} to return an expression; got {}",
                                     what, nb::type_name(result.type()).c_str())
                             .c_str());
  }
  return nb::cast<const Traced&>(result).get();
}

/// Closes what a function of Python was given, however it ends.
struct Closing {
  std::shared_ptr<Tracing> tracing = std::make_shared<Tracing>();
  ~Closing() { tracing->open = false; }
};

Layer custom_layer(const nb::callable& function, const std::string& kind, const std::string& name) {
  const std::shared_ptr<PyObject> held = hold(function);
  return CustomLayer{kind,
                     [held, kind](const Expression& x, LayerWeights& weights) {
                       const WithGil locked;
                       const Closing closing;
                       const nb::object result =
                           nb::handle(held.get())(Traced(closing.tracing, x),
                                                  TracedWeights{&weights, closing.tracing});
                       return result_of(result, fmt::format("layer '{}'", kind));
                     },
                     name};
}

}  // namespace

const Expression& Traced::get() const {
  if (!tracing_->open) {
    throw Error("an expression was used after the function that it was given to returned");
  }
  return expression_;
}

std::vector<Expression> expressions_of(const std::vector<Traced>& all) {
  std::vector<Expression> out;
  for (const Traced& one : all) out.push_back(one.get());
  return out;
}

const Traced& first_of(const std::vector<Traced>& all) {
  require(!all.empty(), "expected at least one expression; got none");
  return all.front();
}

Expression call_traced(PyObject* function, const Expression& a, const Expression& b,
                       const char* what) {
  const WithGil locked;
  const Closing closing;
  const nb::object result =
      nb::handle(function)(Traced(closing.tracing, a), Traced(closing.tracing, b));
  return result_of(result, what);
}

Initializer initializer_of(nb::handle value, const char* what) {
  const Setting setting = setting_of(value, what);
  const std::string where = "LayerWeights.add";
  return FieldFormat<Initializer>::read({"initializer", where, setting});
}

void bind_expressions(nb::module_& m) {
  nb::class_<Traced> expression(m, "Expression", doc("Expression"));
  expression
      .def_prop_ro(
          "shape", [](const Traced& x) { return tuple_of(x.get().shape()); },
          nb::sig("def shape(self) -> tuple[int, ...]"), doc("Expression.shape"))
      .def_prop_ro(
          "dtype", [](const Traced& x) { return std::string(to_string(x.get().dtype())); },
          doc("Expression.dtype"))
      .def_prop_ro(
          "batched", [](const Traced& x) { return x.get().batched(); }, doc("Expression.batched"))
      .def("__getitem__", &item,
           nb::sig("def __getitem__(self, index: int | slice | types.EllipsisType | "
                   "tuple[int | slice | types.EllipsisType, ...]) -> Expression"),
           "Returns a part of x, as NumPy's slices with steps above 0 do.")
      .def("__repr__", [](const Traced& x) {
        return fmt::format("<Expression {} {}>", to_string(x.get().dtype()),
                           to_string(x.get().shape()));
      });
  expression.attr("__array_ufunc__") = nb::none();  // NumPy leaves its operators to the expression
  bind_operators(expression);

  nb::class_<TracedWeights>(m, "LayerWeights", doc("LayerWeights"))
      .def(
          "add",
          [](TracedWeights& w, const std::string& role, const ShapeArg& shape,
             const nb::object& initializer, std::int64_t fan_in, std::int64_t fan_out) {
            if (!w.tracing->open) {
              throw Error("the weights of a layer were used after its function returned");
            }
            const Initializer initial =
                initializer.is_none() ? Initializer{} : initializer_of(initializer, "initializer");
            return Traced(w.tracing,
                          w.weights->add(role, shape_of(shape), initial, fan_in, fan_out));
          },
          nb::arg("role"), nb::arg("shape"), nb::arg("initializer") = nb::none(),
          nb::arg("fan_in") = 1, nb::arg("fan_out") = 1,
          nb::sig("def add(self, role: str, shape: int | Sequence[int], "
                  "initializer: float | str | dict[str, float] | None = None, fan_in: int = 1, "
                  "fan_out: int = 1) -> Expression"),
          doc("LayerWeights.add"));

  nb::borrow<nb::class_<Layer>>(m.attr("Layer"))
      .def(
          "__init__",
          [](Layer* self, const nb::callable& function, const std::string& kind,
             const std::string& name) { new (self) Layer(custom_layer(function, kind, name)); },
          nb::arg("function"), nb::arg("kind"), nb::arg("name") = "",
          nb::sig("def __init__(self, function: Callable[[Expression, LayerWeights], "
                  "Expression], kind: str, name: str = '') -> None"),
          doc("CustomLayer"));

  nb::class_<Block>(m, "Block", doc("Block"))
      .def(
          "__call__", [](const Block& block, const Traced& x) { return x.with(block(x.get())); },
          nb::arg("x"), doc("Block.operator"));
  m.def(
      "cross_attention",
      [](const Traced& query, const Traced& memory, std::int64_t heads, double dropout,
         const std::string& name) {
        return query.with(cross_attention(query.get(), memory.get(), {heads, dropout, name}));
      },
      nb::arg("query"), nb::arg("memory"), nb::arg("heads") = 1, nb::arg("dropout") = 0.0,
      nb::arg("name") = "", doc("cross_attention"));
  m.def(
      "block",
      [](const std::string& name, const std::vector<Layer>& layers) { return block(name, layers); },
      nb::arg("name"), nb::arg("layers"), doc("block"));
}

}  // namespace linnet::python
