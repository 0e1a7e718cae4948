// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"

namespace linnet {

using AttributeValue = std::variant<bool, std::int64_t, double, std::string,
                                    std::vector<std::int64_t>, std::vector<double>>;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// Returns text such as "stride=(2, 2) padding=same"
std::string to_string(const Attributes& attributes);

/// Collects the fields of an attribute struct; see fields() of any operator's attributes.
/// Enumerations are written by name: an overload `enum_names(E)` returns all names, in order.
class AttributeWriter {
 public:
  explicit AttributeWriter(Attributes& out) : out_(out) {}
  template <class T>
  void operator()(std::string_view name, const T& field) {
    if constexpr (std::is_enum_v<T>) {
      const auto names = enum_names(T{});
      add(name, std::string(names[static_cast<std::size_t>(field)]));
    } else if constexpr (std::is_same_v<T, bool> || std::is_class_v<T>) {
      add(name, field);
    } else if constexpr (std::is_integral_v<T>) {
      add(name, static_cast<std::int64_t>(field));
    } else {
      add(name, static_cast<double>(field));
    }
  }

 private:
  /// Out of line: GCC 14 warns of overflows where the list's growth is inlined for every field.
  void add(std::string_view name, AttributeValue value);

  Attributes& out_;
};

/// Fills the fields of an attribute struct; throws Error on a missing name, an unknown one is kept
/// for finish().
class AttributeReader {
 public:
  AttributeReader(std::string_view op, const Attributes& in) : op_(op), in_(in) {}
  template <class T>
  void operator()(std::string_view name, T& field) {
    const AttributeValue& value = find(name);
    ++read_;
    if constexpr (std::is_enum_v<T>) {
      const auto& text = get<std::string>(name, value);
      const auto names = enum_names(T{});
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == text) {
          field = static_cast<T>(i);
          return;
        }
      }
      fail("[{}] the attribute '{}' has the unknown value '{}'", op_, name, text);
    } else if constexpr (std::is_same_v<T, bool> || std::is_class_v<T>) {
      field = get<T>(name, value);
    } else if constexpr (std::is_integral_v<T>) {
      const auto number = get<std::int64_t>(name, value);
      require(std::in_range<T>(number), "[{}] the attribute '{}' is out of range: {}", op_, name,
              number);
      field = static_cast<T>(number);
    } else {
      const auto* integer = std::get_if<std::int64_t>(&value);
      field = static_cast<T>(integer != nullptr ? static_cast<double>(*integer)
                                                : get<double>(name, value));
    }
  }
  /// Throws Error if the input holds names that no field has read.
  void finish() const {
    require(read_ == in_.size(), "[{}] expected {} attributes; got {}: {}", op_, read_, in_.size(),
            to_string(in_));
  }

 private:
  const AttributeValue& find(std::string_view name) const {
    for (const auto& [key, value] : in_) {
      if (key == name) return value;
    }
    fail("[{}] the attribute '{}' is missing", op_, name);
  }
  template <class T>
  const T& get(std::string_view name, const AttributeValue& value) const {
    const T* typed = std::get_if<T>(&value);
    require(typed != nullptr, "[{}] the attribute '{}' has the wrong type", op_, name);
    return *typed;
  }

  std::string op_;
  const Attributes& in_;
  std::size_t read_ = 0;
};

}  // namespace linnet
