// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/layer.h>
#include <linnet/layers/settings.h>
#include <linnet/layers/settings3d.h>

#include <string>
#include <variant>
#include <vector>

#include "describe/field.h"
#include "nn/layer_types.h"

// How the types that fields of layers have are read and written.
namespace linnet {

/// 3, or [height, width]
template <>
struct FieldFormat<Size2d> {
  static std::string type() { return "an integer or [height, width]"; }
  static Setting write(const Size2d& value);
  static Size2d read(const FieldReading& from);
  static std::string cpp(const Size2d& value);
  static void numbers(const Size2d& value, std::vector<double>& to);
};

/// "valid", "same", 1 or [top, bottom, left, right]
template <>
struct FieldFormat<Padding2d> {
  static std::string type() {
    return "\"same\", \"valid\", an integer or [top, bottom, left, right]";
  }
  static Setting write(const Padding2d& value);
  static Padding2d read(const FieldReading& from);
  static std::string cpp(const Padding2d& value);
  static void numbers(const Padding2d& value, std::vector<double>& to);
};

/// 3, or [depth, height, width]
template <>
struct FieldFormat<Size3d> {
  static std::string type() { return "an integer or [depth, height, width]"; }
  static Setting write(const Size3d& value);
  static Size3d read(const FieldReading& from);
  static std::string cpp(const Size3d& value);
  static void numbers(const Size3d& value, std::vector<double>& to);
};

/// "valid", "same", 1 or [front, back, top, bottom, left, right]
template <>
struct FieldFormat<Padding3d> {
  static std::string type() {
    return "\"same\", \"valid\", an integer or [front, back, top, bottom, left, right]";
  }
  static Setting write(const Padding3d& value);
  static Padding3d read(const FieldReading& from);
  static std::string cpp(const Padding3d& value);
  static void numbers(const Padding3d& value, std::vector<double>& to);
};

/// "he_normal", a number (a constant), { uniform = 0.05 } or { normal = 1 }
template <>
struct FieldFormat<Initializer> : NoNumbers {
  static std::string type() { return "a number or the name of an initializer"; }
  static Setting write(const Initializer& value);
  static Initializer read(const FieldReading& from);
  static std::string cpp(const Initializer& value);
};

/// Returns the name of an initializer's kind, as files have it.
std::string_view name_of(Initializer::Kind kind);
/// Throws Error for any other name.
Initializer::Kind initializer_kind(std::string_view name);

template <>
struct FieldFormat<Layer> : NoNumbers {
  static std::string type() { return "a layer"; }
  static Setting write(const Layer& value) { return write_layer(value, true); }
  static Layer read(const FieldReading& from);
  static std::string cpp(const Layer& value) { return cpp_of(value); }
};

template <>
struct FieldFormat<std::vector<Layer>> : NoNumbers {
  static std::string type() { return "an array of layers"; }
  static Setting write(const std::vector<Layer>& value);
  static std::vector<Layer> read(const FieldReading& from);
  static std::string cpp(const std::vector<Layer>& value);
};

template <>
struct FieldFormat<std::vector<std::vector<Layer>>> : NoNumbers {
  static std::string type() { return "an array of arrays of layers"; }
  static Setting write(const std::vector<std::vector<Layer>>& value);
  static std::vector<std::vector<Layer>> read(const FieldReading& from);
  static std::string cpp(const std::vector<std::vector<Layer>>& value);
};

/// One of a few layers.
template <class... L>
struct FieldFormat<std::variant<L...>> : NoNumbers {
  static std::string type() {
    std::string names;
    ((names += (names.empty() ? "" : ", ") + std::string(kind_of<L>())), ...);
    return "a layer (" + names + ")";
  }
  static Setting write(const std::variant<L...>& value) {
    return std::visit([](const auto& layer) { return write_layer(layer, true); }, value);
  }
  static std::variant<L...> read(const FieldReading& from) {
    const Layer layer = FieldFormat<Layer>::read(from);
    std::variant<L...> value;
    if (!(... || assign(value, layer.get_if<L>()))) from.refuse_type(type());
    return value;
  }
  static std::string cpp(const std::variant<L...>& value) {
    return std::visit([](const auto& layer) { return cpp_of(layer); }, value);
  }

 private:
  template <class One>
  static std::string_view kind_of() {
    return layer_types().find(typeid(One))->kind();
  }
  template <class One>
  static bool assign(std::variant<L...>& value, const One* layer) {
    if (layer != nullptr) value = *layer;
    return layer != nullptr;
  }
};

}  // namespace linnet
