// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

#include <fmt/format.h>
#include <linnet/layer.h>
#include <linnet/optimizer.h>
#include <linnet/schedule.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "base/ascii.h"
#include "bind.h"
#include "describe/help.h"
#include "describe/nearest.h"
#include "docstrings.h"
#include "model/optimizers.h"
#include "nn/layer_types.h"
#include "options.h"

namespace linnet::python {
namespace {

constexpr int kMostDepth = 64;  // of lists in lists

std::string class_name(nb::handle value) { return nb::type_name(value.type()).c_str(); }

/// Returns a described struct for the generator of linnet/layers.py and others.
nb::dict described(const Description& fields, const StructDocs& docs) {
  nb::dict page;
  page["kind"] = std::string(fields.kind);
  page["name"] = std::string(fields.name);
  page["doc"] = docs.text;
  nb::list all;
  for (const Field& field : fields.fields) {
    nb::dict one;
    one["key"] = std::string(field.key);
    one["type"] = field.format->type();
    one["required"] = field.is_required;
    one["default"] = object_of(field.write(fields.defaults.get()));
    one["doc"] = std::string(docs.of(field.key));
    all.append(one);
  }
  page["fields"] = all;
  return page;
}

nb::list described_layers() {
  nb::list pages;
  for (const LayerType& type : layer_types().all()) {
    nb::dict page = described(type.fields, docs_of(type));
    page["shapes"] = fmt::format("{} → {}", type.in, type.out);
    pages.append(page);
  }
  return pages;
}

template <class V>
nb::list described_kinds(const Kinds<V>& kinds) {
  nb::list pages;
  for (const Kind<V>& kind : kinds.all()) {
    pages.append(described(kind.fields, docs_of(kind.fields.name, optimizer_headers())));
  }
  return pages;
}

/// "Conv2d(filters=16, padding='same')"
std::string text_of_call(std::string_view name, const SettingTable& table);

/// A value as Python writes it; layers in it as calls.
std::string text_of_value(const Setting& value) {
  if (const auto* table = value.get_if<SettingTable>()) {
    const Setting* kind = find(*table, "type");
    const auto* text = kind == nullptr ? nullptr : kind->get_if<std::string>();
    const LayerType* type = text == nullptr ? nullptr : layer_types().find(*text);
    if (type != nullptr) return text_of_call(type->fields.name, *table);
  }
  if (const auto* list = value.get_if<Setting::List>()) {
    std::vector<std::string> items;
    for (const Setting& item : *list) items.push_back(text_of_value(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  return nb::repr(object_of(value)).c_str();
}

std::string text_of_call(std::string_view name, const SettingTable& table) {
  std::string out = fmt::format("{}(", name);
  for (const SettingEntry& entry : table) {
    if (entry.key == "kind" || entry.key == "type") continue;
    out += fmt::format("{}{}={}", out.back() == '(' ? "" : ", ", entry.key,
                       text_of_value(entry.value));
  }
  return out + ")";
}

std::string layer_text(const Layer& layer) {
  const Setting written = write_layer(layer, false);
  const auto* table = written.get_if<SettingTable>();
  if (table == nullptr) {  // a kind without settings is written as its name
    const LayerType* type = layer_types().find(layer.type());
    return type == nullptr ? "CustomLayer()" : fmt::format("{}()", type->fields.name);
  }
  const LayerType* type = layer_types().find(layer.type());
  if (type == nullptr) return fmt::format("CustomLayer({})", text_of(*table, "name"));
  return text_of_call(type->fields.name, *table);
}

/// Returns a field's value by its key; raises AttributeError for others.
nb::object attribute(const SettingTable& table, const std::string& key, std::string_view name) {
  const Setting* found = find(table, key);
  if (found == nullptr) {
    throw nb::attribute_error(fmt::format("{} has no field '{}'", name, key).c_str());
  }
  return object_of(*found);
}

/// What was made of the fields does not follow them, so they stay as they are.
void refuse_change(const nb::object& self, const std::string& key, const nb::object& /*value*/) {
  const std::string type = nb::type_name(self.type()).c_str();
  throw nb::attribute_error(
      fmt::format("'{}' cannot be set: make another {} with {}=...", key, type, key).c_str());
}

void bind_layer(nb::module_& m) {
  nb::class_<Layer>(m, "Layer", nb::is_weak_referenceable(), nb::dynamic_attr(), doc("Layer"))
      .def(
          "__init__",
          [](Layer* self, const std::string& kind, const nb::dict& settings) {
            SettingTable table{{"type", {lower_ascii(kind)}}};
            for (SettingEntry& entry : table_of(settings, kind)) table.push_back(std::move(entry));
            new (self) Layer(read_layer(Setting{std::move(table)}, kind));
          },
          nb::arg("kind"), nb::arg("settings"),
          "Makes a layer of a kind that `linnet layers` lists, from its fields by name.")
      .def("__repr__", &layer_text)
      .def(
          "__reduce__",
          [](const nb::object& self) {
            const auto& layer = nb::cast<const Layer&>(self);
            const LayerType* type = layer_types().find(layer.type());
            if (type == nullptr) {
              throw nb::type_error("a custom layer is a function, which no pickle holds");
            }
            const nb::object fields = object_of(Setting(type->fields.write(layer.get(), false)));
            return nb::make_tuple(nb::module_::import_("linnet").attr("Layer"),
                                  nb::make_tuple(std::string(type->fields.kind), fields));
          },
          nb::sig("def __reduce__(self) -> tuple[Any, ...]"))
      .def("__setattr__", &refuse_change)
      .def("__getattr__", [](const Layer& layer, const std::string& key) {
        const LayerType* type = layer_types().find(layer.type());
        if (type == nullptr || key.starts_with("__")) {
          throw nb::attribute_error(fmt::format("Layer has no attribute '{}'", key).c_str());
        }
        return attribute(type->fields.write(layer.get(), true), key, type->fields.name);
      });
}

template <class V>
void bind_kinds(nb::module_& m, const char* name, const Kinds<V>& (*kinds)()) {
  nb::class_<V>(m, name, nb::dynamic_attr(), doc(name))
      .def(
          "__init__",
          [kinds](V* self, const std::string& kind, const nb::dict& settings) {
            SettingTable table{{"kind", {lower_ascii(kind)}}};
            for (SettingEntry& entry : table_of(settings, kind)) table.push_back(std::move(entry));
            V value = kinds().read(Setting{std::move(table)}, kind, kind);
            kinds().check(value);
            new (self) V(std::move(value));
          },
          nb::arg("kind"), nb::arg("settings"),
          "Makes one of a kind that `linnet optimizers` lists, from its fields by name.")
      .def("__setattr__", &refuse_change)
      .def("__repr__",
           [kinds](const V& value) {
             const Kind<V>* kind = kinds().find(value);
             if (kind == nullptr) return std::string("ScheduleFunction()");
             return text_of_call(kind->fields.name, kinds().fields_of(value, false));
           })
      .def("__getattr__", [kinds](const V& value, const std::string& key) {
        const Kind<V>* kind = kinds().find(value);
        if (kind == nullptr || key.starts_with("__")) {
          throw nb::attribute_error(fmt::format("no field '{}'", key).c_str());
        }
        return attribute(kinds().fields_of(value, true), key, kind->fields.name);
      });
}

}  // namespace

Setting setting_of(nb::handle value, const std::string& what, int depth) {
  if (depth > kMostDepth) {
    throw nb::type_error(
        fmt::format("{} is nested deeper than {} lists", what, kMostDepth).c_str());
  }
  if (PyBool_Check(value.ptr())) return {nb::cast<bool>(value)};
  if (nb::isinstance<nb::str>(value)) return {nb::cast<std::string>(value)};
  if (nb::isinstance<Layer>(value)) return {std::make_shared<const Layer>(nb::cast<Layer>(value))};
  if (PyIndex_Check(value.ptr()) != 0 && !nb::hasattr(value, "__len__")) {
    const nb::object integer = nb::steal(PyNumber_Index(value.ptr()));
    if (!integer.is_valid()) nb::raise_python_error();
    const long long number = PyLong_AsLongLong(integer.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw nb::value_error(fmt::format("{} must fit into 64 bits", what).c_str());
    }
    return {static_cast<std::int64_t>(number)};
  }
  if (nb::hasattr(value, "tolist") && nb::hasattr(value, "__len__")) {  // an array
    return setting_of(value.attr("tolist")(), what, depth + 1);
  }
  if (PyFloat_Check(value.ptr()) != 0 || nb::hasattr(value, "__float__")) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
    return {number};
  }
  if (nb::isinstance<nb::dict>(value))
    return {table_of(nb::cast<nb::dict>(value), what, depth + 1)};
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    Setting::List list;
    for (const nb::handle item : nb::borrow<nb::sequence>(value)) {
      list.push_back(setting_of(item, what, depth + 1));
    }
    return {std::move(list)};
  }
  throw nb::type_error(
      fmt::format("{} must be a number, a str, a list or a layer; got {}", what, class_name(value))
          .c_str());
}

nb::object object_of(const Setting& setting) {
  if (const auto* flag = setting.get_if<bool>()) return nb::cast(*flag);
  if (const auto* integer = setting.get_if<std::int64_t>()) return nb::cast(*integer);
  if (const auto* number = setting.get_if<double>()) return nb::cast(*number);
  if (const auto* text = setting.get_if<std::string>()) return nb::cast(*text);
  if (const auto* list = setting.get_if<Setting::List>()) {
    nb::list all;
    for (const Setting& item : *list) all.append(object_of(item));
    return all;
  }
  if (const auto* table = setting.get_if<SettingTable>()) {
    nb::dict all;
    for (const SettingEntry& entry : *table) all[entry.key.c_str()] = object_of(entry.value);
    return all;
  }
  return nb::none();
}

SettingTable table_of(const nb::dict& arguments, const std::string& what, int depth) {
  SettingTable table;
  for (const auto& [key, value] : arguments) {
    if (!nb::isinstance<nb::str>(key)) {
      throw nb::type_error(
          fmt::format("expected the keys of {} to be str; got {}", what, class_name(key)).c_str());
    }
    if (value.is_none()) continue;
    const auto name = nb::cast<std::string>(key);
    table.push_back({name, setting_of(value, fmt::format("'{}' in {}", name, what), depth)});
  }
  return table;
}

void bind_settings(nb::module_& m) {
  bind_layer(m);
  bind_kinds<Optimizer>(m, "Optimizer", &optimizers);
  bind_kinds<Schedule>(m, "Schedule", &schedules);
  m.def("_did_you_mean", [](const std::string& given, const std::vector<std::string>& names) {
    return did_you_mean(given, names);
  });
  m.def("_unknown_key",
        [](const std::string& owner, const std::string& key,
           const std::vector<std::string>& known) { return unknown_key(owner, key, known); });
  m.def("_layers", &described_layers);
  m.def("_optimizers", [] { return described_kinds(optimizers()); });
  m.def("_schedules", [] { return described_kinds(schedules()); });
}

}  // namespace linnet::python
