// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/ranks.h>
#include <linnet/table_transform.h>
#include <linnet/trainer.h>
#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expressions.h"
#include "model/options.h"
#include "tasks/options.h"

// The library's structs of options as keyword arguments: each a table of its fields, from which
// classes, signatures and errors follow.
namespace linnet::python {

/// Which argument is converted, for errors: "[Trainer.fit] expected epochs to be ...".
struct Place {
  std::string_view owner;
  std::string_view key;
};
/// Throws TypeError "[fit] expected epochs to be an int; got 'three'".
[[noreturn]] void refuse(const Place& place, std::string_view expected, nb::handle got);

/// How a type of fields is read from Python, and shown there.
///   static std::string type();                           as stubs have it: "int"
///   static T from(nb::handle value, const Place& place);
///   static nb::object to(const T& value);
template <class T>
struct Convert;

template <>
struct Convert<bool> {
  static std::string type() { return "bool"; }
  static bool from(nb::handle value, const Place& place);
  static nb::object to(bool value) { return nb::cast(value); }
};

std::int64_t integer_of(nb::handle value, const Place& place, std::int64_t least,
                        std::int64_t most);

template <std::integral T>
struct Convert<T> {
  static std::string type() { return "int"; }
  static T from(nb::handle value, const Place& place) {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    const bool wide = std::cmp_greater_equal(std::numeric_limits<T>::max(), kMost);
    return static_cast<T>(
        integer_of(value, place,
                   std::is_signed_v<T> ? static_cast<std::int64_t>(std::numeric_limits<T>::min())
                                       : 0,
                   wide ? kMost : static_cast<std::int64_t>(std::numeric_limits<T>::max())));
  }
  static nb::object to(T value) { return nb::cast(value); }
};

template <>
struct Convert<double> {
  static std::string type() { return "float"; }
  static double from(nb::handle value, const Place& place);
  static nb::object to(double value) { return nb::cast(value); }
};

template <>
struct Convert<std::string> {
  static std::string type() { return "str"; }
  static std::string from(nb::handle value, const Place& place);
  static nb::object to(const std::string& value);
};

template <>
struct Convert<std::filesystem::path> {
  static std::string type() { return "PathLike"; }
  static std::filesystem::path from(nb::handle value, const Place& place);
  static nb::object to(const std::filesystem::path& value);
};

template <>
struct Convert<Shape> {
  static std::string type() { return "int | Sequence[int]"; }
  static Shape from(nb::handle value, const Place& place);
  static nb::object to(const Shape& value);
};

/// Separators are texts of one character.
template <>
struct Convert<char> {
  static std::string type() { return "str"; }
  static char from(nb::handle value, const Place& place);
  static nb::object to(char value) { return nb::str(&value, 1); }
};

/// The items of a list, tuple or array. Throws TypeError for anything else, a str included.
std::vector<nb::object> items_of(nb::handle value, std::string_view expected, const Place& place);

template <class T>
struct Convert<std::vector<T>> {
  static std::string type() { return "Sequence[" + Convert<T>::type() + "]"; }
  static std::vector<T> from(nb::handle value, const Place& place) {
    std::vector<T> all;
    for (const nb::object& item : items_of(value, "a list", place)) {
      all.push_back(Convert<T>::from(item, place));
    }
    return all;
  }
  static nb::object to(const std::vector<T>& value) {
    nb::list all;
    for (const T& item : value) all.append(Convert<T>::to(item));
    return all;
  }
};

template <class T>
struct Convert<std::optional<T>> {
  static std::string type() { return Convert<T>::type() + " | None"; }
  static std::optional<T> from(nb::handle value, const Place& place) {
    if (value.is_none()) return {};
    return Convert<T>::from(value, place);
  }
  static nb::object to(const std::optional<T>& value) {
    return value ? Convert<T>::to(*value) : nb::object(nb::none());
  }
};

/// The items of a dict. Throws TypeError for anything else.
std::vector<std::pair<std::string, nb::object>> entries_of(nb::handle value, const Place& place);

template <class T>
struct Convert<std::map<std::string, T>> {
  static std::string type() { return "dict[str, " + Convert<T>::type() + "]"; }
  static std::map<std::string, T> from(nb::handle value, const Place& place) {
    std::map<std::string, T> all;
    for (const auto& [key, item] : entries_of(value, place)) {
      all[key] = Convert<T>::from(item, place);
    }
    return all;
  }
  static nb::object to(const std::map<std::string, T>& value) {
    nb::dict all;
    for (const auto& [key, item] : value) all[key.c_str()] = Convert<T>::to(item);
    return all;
  }
};

/// Enumerations are their names; src/ has those of most.
template <class E>
concept Named = requires {
  enum_names(E{});
};
template <class E>
requires(std::is_enum_v<E> && !Named<E>) std::vector<std::string> names_of();
template <Named E>
std::vector<std::string> names_of() {
  return FieldFormat<E>::names();
}
std::string literal_of(const std::vector<std::string>& names);
std::size_t choice(nb::handle value, const std::vector<std::string>& names, const Place& place);

template <class E>
requires std::is_enum_v<E>
struct Convert<E> {
  static std::string type() { return literal_of(names_of<E>()); }
  static E from(nb::handle value, const Place& place) {
    return static_cast<E>(choice(value, names_of<E>(), place));
  }
  static nb::object to(E value) {
    return nb::str(names_of<E>()[static_cast<std::size_t>(value)].c_str());
  }
};

/// An object, or the name of a kind, which then has its defaults.
template <>
struct Convert<Optimizer> {
  static std::string type() { return "Optimizer | str"; }
  static std::string got() { return "Optimizer"; }
  static Optimizer from(nb::handle value, const Place& place);
  static nb::object to(const Optimizer& value) { return nb::cast(value); }
};

/// What classes that are bound are called in Python.
template <class T>
inline constexpr const char* kClassName = nullptr;

/// Objects of a class that is bound.
template <class T>
requires(kIsDescribed<T> || kClassName<T> != nullptr) struct Convert<T> {
  static std::string type() {
    if constexpr (kIsDescribed<T>) {
      return std::string(description_of<T>().name);
    } else {
      return kClassName<T>;
    }
  }
  static T from(nb::handle value, const Place& place) {
    if (!nb::isinstance<T>(value)) refuse(place, type(), value);
    return nb::cast<T>(value);
  }
  static nb::object to(const T& value) { return nb::cast(value); }
};

template <>
inline constexpr const char* kClassName<Layer> = "Layer";
template <>
inline constexpr const char* kClassName<Ranks> = "Ranks";
template <>
inline constexpr const char* kClassName<TableTransform> = "TableTransform";

/// Convert<T> for a T that is known at run time.
struct AnyConvert {
  std::string (*type)();
  void (*from)(void* field, nb::handle value, const Place& place);
  nb::object (*to)(const void* field);
};
/// Returns that of the type which is described by `format`.
const AnyConvert& convert_of(const AnyFormat& format);

/// One field of a struct of options.
template <class S>
struct Option {
  std::string_view key;
  std::function<void(S& to, nb::handle value, const Place& place)> set;
  std::function<nb::object(const S& from)> get;
  std::string type;
  std::string_view documented = {};  ///< the field whose docstring it has; empty: its own
  std::string got = {};              ///< the type that the field has; empty: `type`
};

template <auto kMember>
struct OptionOf;
template <class S, class T, T S::*kMember>
struct OptionOf<kMember> {
  static Option<S> make(std::string_view key) {
    Option<S> made{key,
                   [](S& to, nb::handle value, const Place& place) {
                     to.*kMember = Convert<T>::from(value, place);
                   },
                   [](const S& from) { return Convert<T>::to(from.*kMember); }, Convert<T>::type()};
    if constexpr (requires { Convert<T>::got(); }) made.got = Convert<T>::got();
    return made;
  }
};
template <auto kMember>
auto option(std::string_view key) {
  return OptionOf<kMember>::make(key);
}

/// "[Trainer.fit] has no argument 'epoch'; did you mean 'epochs'?"
std::string unknown_key(std::string_view owner, std::string_view key,
                        const std::vector<std::string>& known);
[[noreturn]] void refuse_key(std::string_view owner, std::string_view key,
                             const std::vector<std::string>& known);
std::string parameter(std::string_view key, const std::string& type, const nb::object& otherwise);

/// All fields of a struct of options.
template <class S>
struct Options {
  std::string_view name;  ///< in C++
  std::vector<Option<S>> all;

  const Option<S>* find(std::string_view key) const {
    for (const Option<S>& one : all) {
      if (one.key == key) return &one;
    }
    return nullptr;
  }
  /// Sets the fields that the arguments name. Throws TypeError for unknown names and wrong types.
  void read(S& to, const nb::dict& arguments, std::string_view owner) const {
    for (const auto& [key, value] : arguments) {
      const std::string name = nb::str(key).c_str();
      const Option<S>* one = find(name);
      if (one == nullptr) {
        std::vector<std::string> known;
        for (const Option<S>& other : all) known.emplace_back(other.key);
        refuse_key(owner, name, known);
      }
      one->set(to, value, {owner, name});
    }
  }
  /// "epochs: int = 1, batch: int = 128"
  std::string parameters() const {
    std::string out;
    for (const Option<S>& one : all) {
      out += (out.empty() ? "" : ", ") + parameter(one.key, one.type, one.get(S{}));
    }
    return out;
  }
  /// A line for each field, for docstrings.
  std::string arguments() const;
};

template <class S>
const Options<S>& options();

/// Fields that are arguments of their own, part of others, or of programs in C++.
inline constexpr std::pair<std::string_view, std::string_view> kHidden[]{
    {"FitOptions", "callback"},         {"ModelOptions", "operators"},
    {"OutputLoss", "custom"},           {"Objective", "custom_loss"},
    {"TrainingOptions", "custom_loss"}, {"TableTaskOptions", "target"},
    {"SeriesTaskOptions", "targets"},   {"TextTaskOptions", "columns"}};

/// Returns the options of a described struct; those of `others` take the place of its own.
template <class S>
Options<S> described_options(std::vector<Option<S>> others = {}) {
  const Description& description = description_of<S>();
  Options<S> made{description.name, {}};
  for (const Field& field : description.fields) {
    if (std::ranges::count(kHidden, std::pair(description.name, field.key)) > 0) continue;
    const auto own = std::ranges::find(others, field.key, &Option<S>::key);
    if (own != others.end()) {
      made.all.push_back(*own);
      continue;
    }
    const AnyConvert& convert = convert_of(*field.format);
    made.all.push_back({field.key,
                        [&](S& to, nb::handle value, const Place& place) {
                          convert.from(field.member(&to), value, place);
                        },
                        [&](const S& from) { return convert.to(field.member(&from)); },
                        convert.type()});
  }
  return made;
}

template <class S>
requires kIsDescribed<S>
const Options<S>& options() {
  static const Options<S> all = described_options<S>();
  return all;
}
template <>
const Options<LossOptions>& options<LossOptions>();
template <>
const Options<OutputLoss>& options<OutputLoss>();
template <>
const Options<Objective>& options<Objective>();
template <>
const Options<TrainingOptions>& options<TrainingOptions>();

std::string argument_lines(std::string_view owner,
                           const std::vector<std::pair<std::string, std::string>>& fields);

template <class S>
std::string Options<S>::arguments() const {
  std::vector<std::pair<std::string, std::string>> fields;
  for (const Option<S>& one : all) {
    fields.emplace_back(one.key, one.documented.empty() ? one.key : one.documented);
  }
  return argument_lines(name, fields);
}

/// Takes out of `arguments` those that S has, and returns S of them.
template <class S>
S take(nb::dict& arguments, std::string_view owner) {
  S to{};
  for (const Option<S>& one : options<S>().all) {
    const nb::str key(one.key.data(), one.key.size());
    if (!arguments.contains(key)) continue;
    one.set(to, arguments[key], {owner, one.key});
    arguments.attr("pop")(key);
  }
  return to;
}
void refuse_others(const nb::dict& arguments, std::string_view owner,
                   std::vector<std::string> known);

/// "def fit(self, data: ..., *, epochs: int = 1) -> History", which lives as long as the process.
const char* signature(std::string_view name, std::string_view positional,
                      const std::string& parameters, std::string_view result);

}  // namespace linnet::python
