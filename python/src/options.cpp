// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "describe/nearest.h"
#include "describe/other_names.h"
#include "docstrings.h"
#include "model/optimizers.h"
#include "nn/layer_types.h"
#include "shapes.h"

namespace linnet::python {
namespace {

/// Arguments of PyTorch's and Keras' layers that are no arguments of any layer here.
constexpr std::pair<std::string_view, std::string_view> kOfOtherLayers[]{
    {"activation", "an activation is a layer of its own: put ReLU(), Tanh(), ... after this one"},
    {"input_shape", "the network takes the shape of a sample: sequential((28, 28, 1), [...])"},
    {"input_dim", "the network takes the shape of a sample: sequential(8, [...])"},
    {"in_features", "the network's input, sequential(8, [...]), decides it"},
    {"in_channels", "the network's input, sequential((28, 28, 1), [...]), decides it"}};

bool knows_loss_option(std::string_view key) {
  return std::ranges::any_of(options<LossOptions>().all,
                             [&](const auto& one) { return one.key == key; });
}

bool is_layer(std::string_view name) {
  return std::ranges::any_of(layer_types().all(),
                             [&](const LayerType& type) { return type.fields.name == name; });
}

/// Returns ": ReLU() is one" for "relu" or "ReLU", where a layer was expected.
std::string layer_hint(std::string_view expected, nb::handle got) {
  if (expected != kClassName<Layer> || !nb::isinstance<nb::str>(got)) return "";
  const LayerType* type = layer_types().find(lower_ascii(nb::cast<std::string>(got)));
  return type == nullptr ? "" : fmt::format(": {}(...) is one", type->fields.name);
}

/// Returns the first optimizer that has a field; "": none has.
std::string_view optimizer_with(std::string_view field) {
  for (const Kind<Optimizer>& kind : optimizers().all()) {
    if (std::ranges::find(kind.fields.fields, field, &Field::key) != kind.fields.fields.end()) {
      return kind.fields.name;
    }
  }
  return {};
}

std::string described(nb::handle got) {
  if (got.is_none()) return "None";
  if (PyType_Check(got.ptr())) {
    return fmt::format("the class {0}: call it, {0}(...)", nb::str(got.attr("__name__")).c_str());
  }
  if (nb::isinstance<nb::str>(got) || PyLong_Check(got.ptr()) || PyFloat_Check(got.ptr())) {
    const std::string text = nb::repr(got).c_str();
    return text.size() <= 60 ? text : text.substr(0, 57) + "...";
  }
  const std::string type = nb::type_name(got.type()).c_str();
  return type.starts_with("linnet.") ? type.substr(type.rfind('.') + 1) : type;
}

}  // namespace

void refuse(const Place& place, std::string_view expected, nb::handle got) {
  throw nb::type_error(fmt::format("[{}] expected {} to be {}; got {}{}", place.owner, place.key,
                                   expected, described(got), layer_hint(expected, got))
                           .c_str());
}

std::string unknown_key(std::string_view owner, std::string_view key,
                        const std::vector<std::string>& known) {
  const auto knows = [&](std::string_view name) {
    return std::ranges::find(known, name) != known.end();
  };
  std::string meant = meant_among(key, known);
  std::vector<std::string_view> names = other_names(key);
  names.push_back(key);
  for (const std::string_view name : names) {
    if (knows("loss_options") && knows_loss_option(name)) {
      meant = fmt::format("; it is one of loss_options=LossOptions({}=...)", name);
    } else if (knows("optimizer") && !knows(name)) {
      const std::string_view kind = optimizer_with(name);
      if (!kind.empty()) meant = fmt::format("; it is one of optimizer={}({}=...)", kind, name);
    }
  }
  for (const auto& [theirs, hint] : kOfOtherLayers) {
    if (key == theirs && is_layer(owner)) meant = fmt::format("; {}", hint);
  }
  return fmt::format("[{}] has no argument '{}'{}", owner, key, meant);
}

void refuse_key(std::string_view owner, std::string_view key,
                const std::vector<std::string>& known) {
  throw nb::type_error(unknown_key(owner, key, known).c_str());
}

void refuse_others(const nb::dict& arguments, std::string_view owner,
                   std::vector<std::string> known) {
  for (const auto& [key, value] : arguments) refuse_key(owner, nb::str(key).c_str(), known);
}

bool Convert<bool>::from(nb::handle value, const Place& place) {
  const std::string type = nb::type_name(value.type()).c_str();
  if (PyBool_Check(value.ptr()) == 0 && type != "numpy.bool_" && type != "numpy.bool") {
    refuse(place, "True or False", value);
  }
  return PyObject_IsTrue(value.ptr()) == 1;
}

std::int64_t integer_of(nb::handle value, const Place& place, std::int64_t least,
                        std::int64_t most) {
  if (PyIndex_Check(value.ptr()) == 0) refuse(place, "an int", value);
  const nb::object integer = nb::steal(PyNumber_Index(value.ptr()));
  if (!integer.is_valid()) {
    PyErr_Clear();
    refuse(place, "an int", value);
  }
  const long long number = PyLong_AsLongLong(integer.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) PyErr_Clear();
  if ((number == -1 && !integer.equal(nb::int_(-1))) || number < least || number > most) {
    refuse(place, fmt::format("from {} to {}", least, most), value);
  }
  return number;
}

double Convert<double>::from(nb::handle value, const Place& place) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse(place, "a number", value);
  }
  return number;
}

std::string Convert<std::string>::from(nb::handle value, const Place& place) {
  if (!nb::isinstance<nb::str>(value)) refuse(place, "a str", value);
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text == nullptr) nb::raise_python_error();
  return {text, static_cast<std::size_t>(size)};
}
nb::object Convert<std::string>::to(const std::string& value) { return nb::cast(value); }

char Convert<char>::from(nb::handle value, const Place& place) {
  const auto text = Convert<std::string>::from(value, place);
  if (text.empty()) return '\0';  // as `thousands`: none
  if (text.size() != 1) refuse(place, "one character", value);
  return text.front();
}

std::filesystem::path Convert<std::filesystem::path>::from(nb::handle value, const Place& place) {
  const nb::object path = nb::steal(PyOS_FSPath(value.ptr()));
  if (!path.is_valid()) {
    PyErr_Clear();
    refuse(place, "a path", value);
  }
  if (nb::isinstance<nb::bytes>(path)) {
    const auto bytes = nb::cast<nb::bytes>(path);
    return std::string(bytes.c_str(), bytes.size());
  }
  return Convert<std::string>::from(path, place);
}
nb::object Convert<std::filesystem::path>::to(const std::filesystem::path& value) {
  return nb::cast(value.string());
}

Shape Convert<Shape>::from(nb::handle value, const Place& place) {
  if (PyIndex_Check(value.ptr()) != 0 && !nb::hasattr(value, "__len__")) {
    return {Convert<std::int64_t>::from(value, place)};
  }
  std::vector<std::int64_t> dims;
  for (const nb::object& dim : items_of(value, "an int or a list of them", place)) {
    dims.push_back(Convert<std::int64_t>::from(dim, place));
  }
  return Shape(dims);
}
nb::object Convert<Shape>::to(const Shape& value) { return tuple_of(value); }

std::vector<nb::object> items_of(nb::handle value, std::string_view expected, const Place& place) {
  const bool sequence = PySequence_Check(value.ptr()) != 0 && !nb::isinstance<nb::str>(value) &&
                        !nb::isinstance<nb::bytes>(value) && !nb::isinstance<nb::dict>(value);
  if (!sequence) refuse(place, expected, value);
  const Py_ssize_t size = PySequence_Size(value.ptr());
  if (size < 0) {
    PyErr_Clear();
    refuse(place, expected, value);
  }
  std::vector<nb::object> all;
  for (Py_ssize_t i = 0; i < size; ++i) {
    nb::object item = nb::steal(PySequence_GetItem(value.ptr(), i));
    if (!item.is_valid()) nb::raise_python_error();
    all.push_back(std::move(item));
  }
  return all;
}

std::vector<std::pair<std::string, nb::object>> entries_of(nb::handle value, const Place& place) {
  if (!nb::isinstance<nb::dict>(value)) refuse(place, "a dict", value);
  std::vector<std::pair<std::string, nb::object>> all;
  for (const auto& [key, item] : nb::cast<nb::dict>(value)) {
    all.emplace_back(Convert<std::string>::from(key, place), nb::borrow(item));
  }
  return all;
}

std::string literal_of(const std::vector<std::string>& names) {
  std::string out = "Literal[";
  for (const std::string& name : names)
    out += fmt::format("{}'{}'", out.back() == '[' ? "" : ", ", name);
  return out + "]";
}

std::size_t choice(nb::handle value, const std::vector<std::string>& names, const Place& place) {
  if (!nb::isinstance<nb::str>(value)) refuse(place, "one of " + listed(names), value);
  const auto name = Convert<std::string>::from(value, place);
  const std::string lower = lower_ascii(name);  // "Adam" and "adam"
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == lower) return i;
  }
  throw nb::value_error(fmt::format("[{}] expected {} to be {}; got '{}'{}", place.owner, place.key,
                                    listed(names), name, did_you_mean(name, names))
                            .c_str());
}

std::string parameter(std::string_view key, const std::string& type, const nb::object& otherwise) {
  const bool literal = otherwise.is_none() || nb::isinstance<nb::str>(otherwise) ||
                       PyLong_Check(otherwise.ptr()) || PyFloat_Check(otherwise.ptr());
  const std::string value = literal ? nb::repr(otherwise).c_str() : "...";
  return fmt::format("{}: {} = {}", key, type, value);
}

std::string argument_lines(std::string_view owner,
                           const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string out = "Arguments:\n";
  for (const auto& [key, documented] : fields) {
    const std::string name = documented.find('.') == std::string::npos
                                 ? fmt::format("{}.{}", owner, documented)
                                 : documented;
    out += fmt::format("  {}: {}\n", key, docstring(name));
  }
  return out;
}

const char* signature(std::string_view name, std::string_view positional,
                      const std::string& parameters, std::string_view result) {
  const std::string_view between = positional.empty() ? "*, " : ", *, ";
  return keep(fmt::format("def {}({}{}{}) -> {}", name, positional,
                          parameters.empty() ? "" : between, parameters, result));
}

}  // namespace linnet::python
