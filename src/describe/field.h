// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/types.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "describe/setting.h"

namespace linnet {

/// Range of a field's numbers.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;  ///< the least itself lies outside
  bool below_most = false;
  bool finite = false;

  /// Returns text such as "at least 1", "above 0 and finite", "in [0, 1)"; "" for any number.
  std::string text() const;
  bool contains(double number) const;
};

/// A field that is being read: its value, and how errors call it.
struct FieldReading {
  std::string_view key;
  const std::string& where;  ///< "[network.layers 2]"
  const Setting& setting;

  /// Throws SettingError: "'kernel' in [network.layers 2] must be `expected`; got a string".
  [[noreturn]] void refuse_type(std::string_view expected) const;
  [[noreturn]] void refuse(const std::string& sentence) const;
  /// Returns the index of the text in `names`. Throws SettingError with the nearest name for any
  /// other.
  std::size_t choice(const std::vector<std::string>& names) const;
};

/// Describes how a type of fields is read and written; `write` and `read` are each other's inverse.
///   static std::string type();                        "an integer or [height, width]"
///   static Setting write(const T& value);
///   static T read(const FieldReading& from);          throws SettingError
///   static std::string cpp(const T& value);           as C++ initialises it: {3, 1}
///   static void numbers(const T&, std::vector<double>& to);   what a range is about
template <class T>
struct FieldFormat;

struct NoNumbers {
  template <class T>
  static void numbers(const T& /*value*/, std::vector<double>& /*to*/) {}
};

template <>
struct FieldFormat<bool> : NoNumbers {
  static std::string type() { return "true or false"; }
  static Setting write(bool value) { return {value}; }
  static bool read(const FieldReading& from);
  static std::string cpp(bool value) { return value ? "true" : "false"; }
};

template <>
struct FieldFormat<std::int64_t> {
  static std::string type() { return "an integer"; }
  static Setting write(std::int64_t value) { return {value}; }
  static std::int64_t read(const FieldReading& from);
  static std::string cpp(std::int64_t value);
  static void numbers(std::int64_t value, std::vector<double>& to);
};

/// Infinities may be the texts "inf" and "-inf", which JSON needs.
template <>
struct FieldFormat<double> {
  static std::string type() { return "a number"; }
  static Setting write(double value) { return {value}; }
  static double read(const FieldReading& from);
  static std::string cpp(double value);
  static void numbers(double value, std::vector<double>& to) { to.push_back(value); }
};

template <>
struct FieldFormat<std::string> : NoNumbers {
  static std::string type() { return "a string"; }
  static Setting write(const std::string& value) { return {value}; }
  static std::string read(const FieldReading& from);
  static std::string cpp(const std::string& value);
};

/// One number may stand for a list of one.
template <>
struct FieldFormat<std::vector<double>> {
  static std::string type() { return "a number or an array of numbers"; }
  static Setting write(const std::vector<double>& value);
  static std::vector<double> read(const FieldReading& from);
  static std::string cpp(const std::vector<double>& value);
  static void numbers(const std::vector<double>& value, std::vector<double>& to);
};

template <>
struct FieldFormat<Shape> {
  static std::string type() { return "an array of integers"; }
  static Setting write(const Shape& value);
  static Shape read(const FieldReading& from);
  static std::string cpp(const Shape& value);
  static void numbers(const Shape& value, std::vector<double>& to);
};

/// `"tanh" or "relu"`
std::string choices_text(const std::vector<std::string>& names);

/// Enumerations are read and written by name: an overload `enum_names(E)` returns all names, in
/// order, and `enum_type(E)` what C++ calls the type.
template <class E>
requires std::is_enum_v<E>
struct FieldFormat<E> : NoNumbers {
  static std::vector<std::string> names() {
    const auto all = enum_names(E{});
    return {all.begin(), all.end()};
  }
  static std::string type() { return choices_text(names()); }
  static Setting write(E value) { return {names()[static_cast<std::size_t>(value)]}; }
  static E read(const FieldReading& from) { return static_cast<E>(from.choice(names())); }
  static std::string cpp(E value) {
    return std::string(enum_type(E{})) + "::" + names()[static_cast<std::size_t>(value)];
  }
};

/// FieldFormat<T> for a T that is known at run time.
struct AnyFormat {
  std::string (*type)();
  Setting (*write)(const void* value);
  void (*read)(void* value, const FieldReading& from);
  std::string (*cpp)(const void* value);
  void (*numbers)(const void* value, std::vector<double>& to);
};
template <class T>
inline constexpr AnyFormat kFormatOf{[] { return FieldFormat<T>::type(); },
                                     [](const void* value) {
                                       return FieldFormat<T>::write(*static_cast<const T*>(value));
                                     },
                                     [](void* value, const FieldReading& from) {
                                       *static_cast<T*>(value) = FieldFormat<T>::read(from);
                                     },
                                     [](const void* value) {
                                       return FieldFormat<T>::cpp(*static_cast<const T*>(value));
                                     },
                                     [](const void* value, std::vector<double>& to) {
                                       FieldFormat<T>::numbers(*static_cast<const T*>(value), to);
                                     }};

/// One field of a described struct. Made by field<&Conv2d::filters>("filters").
struct Field {
  std::string_view key;
  const void* (*member)(const void* object) = nullptr;
  const AnyFormat* format = nullptr;
  Range range = {};
  bool is_required = false;        ///< in a file
  std::string_view old_name = {};  ///< what files called it once

  Field at_least(double least) const { return in({.least = least}); }
  Field above(double least) const { return in({.least = least, .above_least = true}); }
  Field between(double least, double most) const { return in({.least = least, .most = most}); }
  Field from_to_below(double least, double most) const {
    return in({.least = least, .most = most, .below_most = true});
  }
  Field in(const Range& new_range) const;
  Field finite() const;  ///< in its range, and neither infinite nor NaN
  Field required() const;
  Field formerly(std::string_view name) const;

  Setting write(const void* object) const { return format->write(member(object)); }
};

template <auto kMember>
struct MemberOf;
template <class C, class T, T C::*kMember>
struct MemberOf<kMember> {
  using Value = T;
  static const void* get(const void* object) { return &(static_cast<const C*>(object)->*kMember); }
};

template <auto kMember>
Field field(std::string_view key) {
  Field made;
  made.key = key;
  made.member = &MemberOf<kMember>::get;
  made.format = &kFormatOf<typename MemberOf<kMember>::Value>;
  return made;
}

/// A struct of settings with a kind, described once: what files, help pages and checks follow from.
struct Description {
  std::string_view kind;  ///< in files: "conv2d"
  std::string_view name;  ///< in C++: "Conv2d"
  std::vector<Field> fields;
  std::shared_ptr<const void> defaults;  ///< an object that nobody has changed

  const Field* find(std::string_view key) const;

  /// Fills the object's fields from a table; `known` are keys that somebody else reads. Throws
  /// SettingError for values of wrong types or out of range, unknown keys and missing ones.
  void read(void* object, const Setting& table, const std::string& where,
            const std::vector<std::string_view>& known = {}) const;
  /// Throws Error, "[conv2d 'stem'] expected filters to be at least 1; got 0", for a field that is
  /// out of its range; without an owner "[sgd] expected ...".
  void check(const void* object, std::string_view owner) const;
  /// Returns the fields that differ from the defaults, or all of them.
  SettingTable write(const void* object, bool all) const;
  /// Conv2d{.filters = 16}
  std::string cpp(const void* object) const;
};

}  // namespace linnet
