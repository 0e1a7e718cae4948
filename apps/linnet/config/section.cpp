// SPDX-License-Identifier: Apache-2.0
#include "config/section.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "config/layers.h"
#include "describe/nearest.h"

namespace linnet::command {
namespace {

std::string_view article_and_type(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "an array";
    case toml::node_type::string: return "a string";
    case toml::node_type::integer: return "an integer";
    case toml::node_type::floating_point: return "a number";
    case toml::node_type::boolean: return "a truth value";
    default: return "a date or time";
  }
}

}  // namespace

std::string place_of(const std::string& file, const toml::source_region& source) {
  return fmt::format("{}:{}:{}: ", file, source.begin.line, source.begin.column);
}

Section::Section(const toml::table& table, std::string file, std::string where)
    : table_(table), file_(std::move(file)), where_(std::move(where)) {}

bool Section::knows(std::string_view key) const {
  return std::find(known_.begin(), known_.end(), key) != known_.end();
}

const toml::node* Section::node(std::string_view key) {
  known_.emplace_back(key);
  return table_.get(key);
}

std::vector<std::string> Section::tables() const {
  std::vector<std::string> keys;
  for (auto&& [key, value] : table_) {
    if (value.is_table()) keys.emplace_back(key.str());
  }
  return keys;
}

Section Section::table(std::string_view key, std::string where) {
  static const toml::table kEmpty;
  const toml::node* found = node(key);
  if (found != nullptr && !found->is_table()) refuse_type(key, "a table");
  return {found != nullptr ? *found->as_table() : kEmpty, file_, std::move(where)};
}

Section& Section::need(std::string_view key) {
  needed_.emplace_back(key);
  return *this;
}

double Section::number(std::string_view key, double otherwise) {
  const toml::node* found = node(key);
  if (found == nullptr) return otherwise;
  if (!found->is_number()) refuse_type(key, "a number");
  return *found->value<double>();
}

std::int64_t Section::integer(std::string_view key, std::int64_t otherwise, std::int64_t least,
                              std::int64_t most) {
  const toml::node* found = node(key);
  if (found == nullptr) return otherwise;
  if (!found->is_integer()) refuse_type(key, "an integer");
  const auto value = *found->value<std::int64_t>();
  if (value < least) {
    refuse(key, fmt::format("'{}' in {} must be at least {}; got {}", key, where_, least, value));
  }
  if (value > most) {
    refuse(key, fmt::format("'{}' in {} must be at most {}; got {}", key, where_, most, value));
  }
  return value;
}

bool Section::flag(std::string_view key, bool otherwise) {
  const toml::node* found = node(key);
  if (found == nullptr) return otherwise;
  if (!found->is_boolean()) refuse_type(key, "true or false");
  return *found->value<bool>();
}

std::string Section::text(std::string_view key, std::string otherwise) {
  const toml::node* found = node(key);
  if (found == nullptr) return otherwise;
  if (!found->is_string()) refuse_type(key, "a string");
  return *found->value<std::string>();
}

std::size_t Section::choice(std::string_view key, std::size_t otherwise,
                            const std::vector<std::string>& names) {
  if (!has(key)) {
    known_.emplace_back(key);
    return otherwise;
  }
  const std::string given = text(key, "");
  const auto found = std::find(names.begin(), names.end(), given);
  if (found == names.end()) {
    refuse(key, fmt::format("'{}' in {} must be {}; got '{}'{}", key, where_, listed(names), given,
                            did_you_mean(given, names)));
  }
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<std::int64_t> Section::integers(std::string_view key, std::int64_t least) {
  const toml::node* found = node(key);
  if (found == nullptr) return {};
  if (!found->is_array()) refuse_type(key, "an array of integers");
  std::vector<std::int64_t> values;
  for (const toml::node& item : *found->as_array()) {
    const auto value = item.is_integer() ? item.value<std::int64_t>() : std::nullopt;
    if (!value || *value < least || *value > kLargestInteger) {
      refuse(key, fmt::format("'{}' in {} must hold integers from {} to {}", key, where_, least,
                              kLargestInteger));
    }
    values.push_back(*value);
  }
  return values;
}

SettingTable Section::settings(const Description& options) {
  SettingTable given;
  for (const Field& field : options.fields) {
    const toml::node* found = node(field.key);
    if (found == nullptr) continue;
    const bool wide = field.format == &kFormatOf<std::uint64_t>;  // a seed, or bytes
    const std::int64_t most = wide ? std::numeric_limits<std::int64_t>::max() : kLargestInteger;
    if (found->is_integer()) integer(field.key, 0, -most, most);
    given.push_back({std::string(field.key), setting_from(*found, file_, most)});
  }
  return given;
}

void Section::fields(const Description& options, void* object) {
  const Setting given{settings(options)};
  placed_in(file_, [&] { options.read(object, given, where_); });
}

void Section::close(const std::string& kind) const {
  for (auto&& [key, value] : table_) {
    const std::string name(key.str());
    if (knows(name)) continue;
    std::string hint = did_you_mean(name, known_);
    if (hint.empty() && !kind.empty()) {
      std::vector<std::string> keys = known_;
      std::erase(keys, "kind");
      hint = fmt::format("; {} takes {}", kind, fmt::join(keys, ", "));
    }
    fail("{}unknown key '{}' in {}{}", place_of(file_, key.source()), name, where_, hint);
  }
  for (const std::string& key : needed_) {
    if (!has(key)) refuse(key, fmt::format("{} needs the key '{}'", where_, key));
  }
}

void Section::refuse(std::string_view key, const std::string& sentence) const {
  const toml::node* found = table_.get(key);
  throw Error(place_of(file_, found != nullptr ? found->source() : table_.source()) + sentence);
}

void Section::refuse_type(std::string_view key, std::string_view expected) const {
  const toml::node* found = table_.get(key);
  refuse(key, fmt::format("'{}' in {} must be {}; got {}", key, where_, expected,
                          found != nullptr ? article_and_type(*found) : "nothing"));
}

std::string Section::place() const { return place_of(file_, table_.source()); }

}  // namespace linnet::command
