// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace linnet {

/// Choices that were measured on a device, by key. A key names all that a choice depends on:
/// device, library version, operator, shapes, types, epilogue. In a file it is one JSON object of
/// strings. Not thread-safe.
class TuningCache {
 public:
  /// Kept in memory alone.
  TuningCache() = default;

  /// Starts from the file's content. A file that is missing, unreadable or damaged counts as empty,
  /// an entry that is not a string as absent: at worst a choice is measured again.
  explicit TuningCache(std::filesystem::path file);

  std::optional<std::string> get(const std::string& key) const;
  /// Keeps a choice, in the file too where it can be written: a program that is killed afterwards
  /// has not measured in vain. Bytes that are no UTF-8 are refused with Error, since JSON can't
  /// hold them.
  void put(const std::string& key, const std::string& value);

  /// Writes the file (and its folder) if put() could not, keeping what another process has added to
  /// it meanwhile. Throws Error where it can't be written: nothing but time is lost then.
  void flush();
  /// The same; instead of throwing it returns the sentence for Program::notes(), else "".
  std::string save();

 private:
  std::filesystem::path file_;
  std::map<std::string, std::string> choices_;
  std::map<std::string, std::string> unsaved_;
};

}  // namespace linnet
