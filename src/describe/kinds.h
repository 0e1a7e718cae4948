// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "describe/field.h"

namespace linnet {

/// One kind of a variant of settings, e.g. Adam of Optimizer.
template <class V>
struct Kind {
  Description fields;
  V defaults;
  V example;  ///< for help pages
};

/// The kinds of a variant, each described once. In files they are tables with a key `kind`:
/// { kind = "adam", learning_rate = 0.004 }.
template <class V>
class Kinds {
 public:
  template <class T>
  void add(std::string_view kind, std::string_view name, std::vector<Field> fields, T example) {
    all_.push_back({.fields = {.kind = kind,
                               .name = name,
                               .fields = std::move(fields),
                               .defaults = std::make_shared<const T>()},
                    .defaults = T{},
                    .example = std::move(example)});
  }

  const std::vector<Kind<V>>& all() const { return all_; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Kind<V>& kind : all_) names.emplace_back(kind.fields.kind);
    return names;
  }

  /// Returns null for a kind that nobody described.
  const Kind<V>* find(std::string_view name) const {
    return find_if([&](const Kind<V>& kind) { return kind.fields.kind == name; });
  }
  const Kind<V>* find(const V& value) const {
    return find_if([&](const Kind<V>& kind) { return kind.defaults.index() == value.index(); });
  }

  /// Throws Error, "[adam] expected beta1 to be in [0, 1); got 1", for a field out of its range.
  void check(const V& value) const {
    if (const Kind<V>* kind = find(value)) kind->fields.check(object_of(value), "");
  }

  /// Returns the fields that differ from the defaults, or all of them; empty where nobody described
  /// them.
  SettingTable fields_of(const V& value, bool all) const {
    const Kind<V>* kind = find(value);
    return kind == nullptr ? SettingTable() : kind->fields.write(object_of(value), all);
  }

  /// Returns the table of a value, which read() takes. The value's kind is described.
  Setting write(const V& value, bool all) const {
    const Kind<V>* kind = find(value);
    LINNET_ASSERT(kind != nullptr);
    SettingTable table{{"kind", {std::string(kind->fields.kind)}}};
    for (SettingEntry& entry : kind->fields.write(object_of(value), all)) {
      table.push_back(std::move(entry));
    }
    return {std::move(table)};
  }

  /// Returns a table's value; one without a kind is of the kind `otherwise`. `known` are keys that
  /// somebody else reads. Throws SettingError for an unknown kind, with the nearest one, and for
  /// what its fields refuse.
  V read(const Setting& table, const std::string& where, std::string_view otherwise,
         std::vector<std::string_view> known = {}) const {
    const auto* entries = table.get_if<SettingTable>();
    LINNET_ASSERT(entries != nullptr);
    const Setting* given = linnet::find(*entries, "kind");
    const Kind<V>* kind = given == nullptr
                              ? find(otherwise)
                              : &all_[FieldReading{"kind", where, *given}.choice(names())];
    LINNET_ASSERT(kind != nullptr);
    V value = kind->defaults;
    known.push_back("kind");
    kind->fields.read(object_of(value), table, where, known);
    return value;
  }

  /// Adam{.learning_rate = 0.004}
  std::string cpp(const V& value) const { return find(value)->fields.cpp(object_of(value)); }

 private:
  static const void* object_of(const V& value) {
    return std::visit([](const auto& object) -> const void* { return &object; }, value);
  }
  static void* object_of(V& value) {
    return std::visit([](auto& object) -> void* { return &object; }, value);
  }
  template <class Same>
  const Kind<V>* find_if(const Same& same) const {
    const auto found = std::find_if(all_.begin(), all_.end(), same);
    return found == all_.end() ? nullptr : &*found;
  }

  std::vector<Kind<V>> all_;
};

}  // namespace linnet
