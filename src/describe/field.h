// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/types.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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
  const std::string& where;  ///< "[network.layers 2]"; empty: the key is an option, "--epochs"
  const Setting& setting;

  /// Returns "'kernel' in [network.layers 2] must be", or "--kernel: expected".
  std::string must_be() const;
  /// Returns the same field's value of a key, "kernel.KEY" or "--kernel KEY".
  std::string key_of(std::string_view inner) const;

  /// Throws SettingError: "'kernel' in [network.layers 2] must be `expected`; got a string".
  [[noreturn]] void refuse_type(std::string_view expected) const;
  [[noreturn]] void refuse(const std::string& sentence) const;
  /// Returns the index of the text in `names`. Throws SettingError with the nearest name for any
  /// other.
  std::size_t choice(const std::vector<std::string>& names) const;
  /// Returns an integer. Throws SettingError for one out of this range.
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
};

/// What the command line takes for a field.
enum class Form : std::uint8_t {
  other,    ///< nothing
  truth,    ///< --name or --no-name
  integer,  ///< one of each of these
  number,
  text,
  texts,  ///< several, by several options
};

/// Describes how a type of fields is read and written; `write` and `read` are each other's inverse.
///   static std::string type();                        "an integer or [height, width]"
///   static Setting write(const T& value);
///   static T read(const FieldReading& from);          throws SettingError
///   static std::string cpp(const T& value);           as C++ initialises it: {3, 1}
///   static void numbers(const T&, std::vector<double>& to);   what a range is about
///   static constexpr Form kForm;                      if the command line takes it
template <class T>
struct FieldFormat;

struct NoNumbers {
  template <class T>
  static void numbers(const T& /*value*/, std::vector<double>& /*to*/) {}
};

template <>
struct FieldFormat<bool> : NoNumbers {
  static constexpr Form kForm = Form::truth;
  static std::string type() { return "true or false"; }
  static Setting write(bool value) { return {value}; }
  static bool read(const FieldReading& from);
  static std::string cpp(bool value) { return value ? "true" : "false"; }
};

template <std::integral T>
struct FieldFormat<T> {
  static constexpr Form kForm = Form::integer;
  static std::string type() { return "an integer"; }
  static Setting write(T value) { return {static_cast<std::int64_t>(value)}; }
  static T read(const FieldReading& from) {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    return static_cast<T>(
        from.integer(std::is_signed_v<T> ? std::numeric_limits<T>::min() : T{},
                     std::in_range<std::int64_t>(std::numeric_limits<T>::max())
                         ? static_cast<std::int64_t>(std::numeric_limits<T>::max())
                         : kMost));
  }
  static std::string cpp(T value) { return std::to_string(value); }
  static void numbers(T value, std::vector<double>& to) {
    to.push_back(static_cast<double>(value));
  }
};

/// Infinities may be the texts "inf" and "-inf", which JSON needs.
template <>
struct FieldFormat<double> {
  static constexpr Form kForm = Form::number;
  static std::string type() { return "a number"; }
  static Setting write(double value) { return {value}; }
  static double read(const FieldReading& from);
  static std::string cpp(double value);
  static void numbers(double value, std::vector<double>& to) { to.push_back(value); }
};

/// A separator: "tab" and "blank" are names, "none" is NUL.
template <>
struct FieldFormat<char> : NoNumbers {
  static constexpr Form kForm = Form::text;
  static std::string type() { return "one character, \"tab\", \"blank\" or \"none\""; }
  static Setting write(char value);
  static char read(const FieldReading& from);
  static std::string cpp(char value) { return "'" + std::string(1, value) + "'"; }
};

template <>
struct FieldFormat<std::string> : NoNumbers {
  static constexpr Form kForm = Form::text;
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

/// One text may stand for a list of one.
template <>
struct FieldFormat<std::vector<std::string>> : NoNumbers {
  static constexpr Form kForm = Form::texts;
  static std::string type() { return "a string or an array of strings"; }
  static Setting write(const std::vector<std::string>& value);
  static std::vector<std::string> read(const FieldReading& from);
  static std::string cpp(const std::vector<std::string>& value);
};

/// A text may stand for a list, with an x between its numbers: "224x192".
template <>
struct FieldFormat<Shape> {
  static constexpr Form kForm = Form::text;
  static std::string type() { return "an array of integers"; }
  static Setting write(const Shape& value);
  static Shape read(const FieldReading& from);
  static std::string cpp(const Shape& value);
  static void numbers(const Shape& value, std::vector<double>& to);
};

/// `"tanh" or "relu"`
std::string choices_text(const std::vector<std::string>& names);

/// Enumerations are read and written by name: an overload `enum_names(E)` returns all names, in
/// order, and `enum_type(E)` what C++ examples call the type.
template <class E>
requires std::is_enum_v<E>
struct FieldFormat<E> : NoNumbers {
  static constexpr Form kForm = Form::text;
  static std::vector<std::string> names() {
    const auto all = enum_names(E{});
    return {all.begin(), all.end()};
  }
  static std::string type() { return choices_text(names()); }
  static Setting write(E value) { return {names()[static_cast<std::size_t>(value)]}; }
  static E read(const FieldReading& from) { return static_cast<E>(from.choice(names())); }
  static std::string cpp(E value) {
    const std::string name = names()[static_cast<std::size_t>(value)];
    if constexpr (requires { enum_type(E{}); }) return std::string(enum_type(E{})) + "::" + name;
    return '"' + name + '"';
  }
};

/// The entries of a table, or of texts such as "name=value"; one without a name has the name "".
std::vector<SettingEntry> named_texts(const FieldReading& from, const std::string& type);

template <class T>
struct FieldFormat<std::map<std::string, T>> : NoNumbers {
  static constexpr Form kForm = Form::texts;
  static std::string type() { return "a table, or texts such as \"NAME=VALUE\""; }
  static Setting write(const std::map<std::string, T>& value) {
    SettingTable table;
    for (const auto& [name, one] : value) table.push_back({name, FieldFormat<T>::write(one)});
    return {std::move(table)};
  }
  static std::map<std::string, T> read(const FieldReading& from) {
    std::map<std::string, T> all;
    for (const auto& [name, setting, place] : named_texts(from, type())) {
      const std::string key = name.empty() ? std::string(from.key) : from.key_of(name);
      all[name] = FieldFormat<T>::read({key, from.where, setting});
    }
    return all;
  }
  static std::string cpp(const std::map<std::string, T>& value) {
    return value.empty() ? "{}" : "...";
  }
};

/// A value that may be missing; then its setting has no type.
template <class T>
struct FieldFormat<std::optional<T>> {
  static constexpr Form kForm = FieldFormat<T>::kForm;
  static std::vector<std::string> names() requires std::is_enum_v<T> {
    return FieldFormat<T>::names();
  }
  static std::string type() { return FieldFormat<T>::type(); }
  static Setting write(const std::optional<T>& value) {
    return value ? FieldFormat<T>::write(*value) : Setting();
  }
  static std::optional<T> read(const FieldReading& from) { return FieldFormat<T>::read(from); }
  static std::string cpp(const std::optional<T>& value) {
    return value ? FieldFormat<T>::cpp(*value) : "{}";
  }
  static void numbers(const std::optional<T>& value, std::vector<double>& to) {
    if (value) FieldFormat<T>::numbers(*value, to);
  }
};

/// A function, which no file holds: it is written as whether there is one.
template <class F>
struct FieldFormat<std::function<F>> : NoNumbers {
  static std::string type() { return "a function of a program"; }
  static Setting write(const std::function<F>& value) { return {value != nullptr}; }
  static std::function<F> read(const FieldReading& from) { from.refuse_type(type()); }
  static std::string cpp(const std::function<F>& value) { return value ? "..." : "{}"; }
};

struct Description;

/// Whether a struct of options is described: description_of<S>() returns how.
template <class S>
inline constexpr bool kIsDescribed = false;
/// Returns a description, but for its defaults.
template <class S>
Description described();
template <class S>
const Description& description_of();

/// A described struct within another one: a table.
template <class S>
requires kIsDescribed<S>
struct FieldFormat<S> : NoNumbers {
  static std::string type() { return "a table"; }
  static Setting write(const S& value);
  static S read(const FieldReading& from);
  static std::string cpp(const S& value);
};

/// FieldFormat<T> for a T that is known at run time.
struct AnyFormat {
  std::string (*type)();
  Setting (*write)(const void* value);
  void (*read)(void* value, const FieldReading& from);
  void (*copy)(const void* from, void* to);
  std::string (*cpp)(const void* value);
  void (*numbers)(const void* value, std::vector<double>& to);
  std::vector<std::string> (*names)();  ///< of an enumeration; null: it is none
  Form form;
};
template <class T>
constexpr Form form_of() {
  if constexpr (requires { FieldFormat<T>::kForm; }) return FieldFormat<T>::kForm;
  return Form::other;
}
template <class T>
constexpr auto names_format() -> std::vector<std::string> (*)() {
  if constexpr (requires { FieldFormat<T>::names(); }) {
    return [] { return FieldFormat<T>::names(); };
  } else {
    return nullptr;
  }
}
template <class T>
inline constexpr AnyFormat kFormatOf{
    [] { return FieldFormat<T>::type(); },
    [](const void* value) { return FieldFormat<T>::write(*static_cast<const T*>(value)); },
    [](void* value, const FieldReading& from) {
      *static_cast<T*>(value) = FieldFormat<T>::read(from);
    },
    [](const void* from, void* to) { *static_cast<T*>(to) = *static_cast<const T*>(from); },
    [](const void* value) { return FieldFormat<T>::cpp(*static_cast<const T*>(value)); },
    [](const void* value, std::vector<double>& to) {
      FieldFormat<T>::numbers(*static_cast<const T*>(value), to);
    },
    names_format<T>(),
    form_of<T>()};

/// One field of a described struct. Made by field<&Conv2d::filters>("filters").
struct Field {
  std::string_view key;
  const void* (*of)(const void* object) = nullptr;
  const AnyFormat* format = nullptr;
  Range range = {};
  bool is_required = false;         ///< in a file
  std::string_view old_name = {};   ///< what files called it once
  std::string_view flag_name = {};  ///< of the command, e.g. "--drop-last"; empty: it has none
  std::string_view flag_help = {};
  std::string_view flag_group = {};     ///< of the help page; empty: that of the others
  std::vector<std::string> names = {};  ///< texts for its values in files and flags; empty: its own
  std::vector<std::int64_t> values = {};  ///< numbers that `names` stand for, beside the range's
  bool is_column = false;                 ///< a text that may be a column's number
  bool keeps_bits = false;                ///< no value of it changes what is computed
  /// Returns what is wrong with a text, or "".
  std::string (*mistake)(const std::string& text) = nullptr;
  std::ptrdiff_t offset = 0;  ///< of the struct that has the member, within the object

  Field in(const Range& new_range) const { return with(&Field::range, new_range); }
  Field at_least(double least) const { return in({.least = least}); }
  Field above(double least) const { return in({.least = least, .above_least = true}); }
  Field between(double least, double most) const { return in({.least = least, .most = most}); }
  Field from_to_below(double least, double most) const {
    return in({.least = least, .most = most, .below_most = true});
  }
  /// In its range, and neither infinite nor NaN.
  Field finite() const {
    Range bounded = range;
    bounded.finite = true;
    return in(bounded);
  }
  Field required() const { return with(&Field::is_required, true); }
  Field formerly(std::string_view name) const { return with(&Field::old_name, name); }
  Field flag(std::string_view name, std::string_view help) const {
    return with(&Field::flag_name, name).with(&Field::flag_help, help);
  }
  Field group(std::string_view name) const { return with(&Field::flag_group, name); }
  /// Takes these texts in files and flags: those of false and true, of an enumeration in its order,
  /// or those that are allowed.
  Field as(std::vector<std::string> texts) const { return with(&Field::names, std::move(texts)); }
  /// Takes these texts for numbers beside its range.
  Field as(std::vector<std::string> texts, std::vector<std::int64_t> numbers) const {
    return as(std::move(texts)).with(&Field::values, std::move(numbers));
  }
  Field checked(std::string (*find)(const std::string&)) const {
    return with(&Field::mistake, find);
  }
  Field same_bits() const { return with(&Field::keeps_bits, true); }
  /// Takes numbers as texts: columns of a table, by number from 1.
  Field column() const { return with(&Field::is_column, true); }

  const void* member(const void* object) const {
    return of(static_cast<const std::byte*>(object) + offset);
  }
  void* member(void* object) const {
    return const_cast<void*>(member(static_cast<const void*>(object)));  // the object is not const
  }
  Setting write(const void* object) const;
  /// Reads the field. Throws SettingError for another type, another text than one of `names`, and
  /// a number out of range.
  void read(void* object, const FieldReading& from) const;

 private:
  template <class T>
  Field with(T Field::*member, T value) const {
    Field changed = *this;
    changed.*member = std::move(value);
    return changed;
  }
};

template <auto kMember>
struct MemberOf;
template <class C, class T, T C::*kMember>
struct MemberOf<kMember> {
  using Value = T;
  static const void* get(const void* object) { return &(static_cast<const C*>(object)->*kMember); }
  static std::ptrdiff_t offset() {
    const C object{};
    return static_cast<const std::byte*>(get(&object)) -
           reinterpret_cast<const std::byte*>(&object);
  }
};

template <auto kMember>
Field field(std::string_view key) {
  Field made;
  made.key = key;
  made.of = &MemberOf<kMember>::get;
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
  /// Returns the fields but for some.
  std::vector<Field> fields_without(const std::vector<std::string_view>& keys) const;

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

template <class S>
const Description& description_of() {
  static const Description kAll = [] {
    Description all = described<S>();
    all.defaults = std::make_shared<const S>();
    return all;
  }();
  return kAll;
}

template <class S>
requires kIsDescribed<S> Setting FieldFormat<S>::write(const S& value) {
  return {description_of<S>().write(&value, true)};
}
template <class S>
requires kIsDescribed<S> S FieldFormat<S>::read(const FieldReading& from) {
  if (from.setting.get_if<SettingTable>() == nullptr) from.refuse_type(type());
  S value{};
  description_of<S>().read(&value, from.setting, std::string(from.key) + " of " + from.where);
  return value;
}
template <class S>
requires kIsDescribed<S> std::string FieldFormat<S>::cpp(const S& value) {
  return description_of<S>().cpp(&value);
}

/// Returns fields of a described member as fields of the object that has it:
///   lifted<&OutputLoss::options>(description_of<LossOptions>().fields)
template <auto kMember>
std::vector<Field> lifted(std::vector<Field> fields) {
  for (Field& field : fields) field.offset += MemberOf<kMember>::offset();
  return fields;
}

/// Returns the fields of all parts, in order.
std::vector<Field> joined(std::initializer_list<std::vector<Field>> parts);

}  // namespace linnet
