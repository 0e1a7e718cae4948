// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "describe/field.h"

namespace linnet::command {

/// No integer of a file needs to be larger (but a seed); products of a few don't overflow then.
inline constexpr std::int64_t kLargestInteger = std::numeric_limits<std::int32_t>::max();

/// One table of a configuration file, read key by key. Each getter makes its key known and gives
/// `otherwise` where the table lacks it; close() then refuses every key that nobody asked for.
/// All errors are linnet::Error that begin with "file:line:column: ".
class Section {
 public:
  /// `where` is how errors call it, e.g. "[network.layers 1]". Keeps references to the table.
  Section(const toml::table& table, std::string file, std::string where);

  bool has(std::string_view key) const { return table_.contains(key); }
  /// Returns whether a getter has asked for the key.
  bool knows(std::string_view key) const;
  double number(std::string_view key, double otherwise);
  /// Returns an integer of at least `least`.
  std::int64_t integer(std::string_view key, std::int64_t otherwise, std::int64_t least = 0,
                       std::int64_t most = kLargestInteger);
  bool flag(std::string_view key, bool otherwise);
  std::string text(std::string_view key, std::string otherwise);
  /// Returns the index of the key's text in `names`; an unknown name is an error with the nearest
  /// one.
  std::size_t choice(std::string_view key, std::size_t otherwise,
                     const std::vector<std::string>& names);
  /// Returns an array of integers of at least `least`.
  std::vector<std::int64_t> integers(std::string_view key, std::int64_t least = 1);
  /// Returns the keys that are fields of described options.
  SettingTable settings(const Description& options);
  /// Reads the fields of described options into `object`, which has them.
  void fields(const Description& options, void* object);
  /// Returns the value itself, or null; for keys of several types.
  const toml::node* node(std::string_view key);
  /// Returns the keys whose values are tables.
  std::vector<std::string> tables() const;
  /// Returns the table under a key, which errors call `where`.
  Section table(std::string_view key, std::string where);
  /// Marks a key as needed; close() complains where it is missing.
  Section& need(std::string_view key);

  /// Refuses keys that nobody asked for. `kind`: whose keys the message lists, where no known key
  /// is near the unknown one.
  void close(const std::string& kind = "") const;
  /// Throws Error at the key's value (or at the table, if the key is missing).
  [[noreturn]] void refuse(std::string_view key, const std::string& sentence) const;
  [[noreturn]] void refuse_type(std::string_view key, std::string_view expected) const;
  const std::string& file() const { return file_; }
  /// Returns "file:line:column: " of the table.
  std::string place() const;

 private:
  const toml::table& table_;
  std::string file_;
  std::string where_;
  std::vector<std::string> known_;
  std::vector<std::string> needed_;
};

/// Returns text such as "config.toml:7:3: "
std::string place_of(const std::string& file, const toml::source_region& source);

}  // namespace linnet::command
