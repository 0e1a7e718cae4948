// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <string>
#include <vector>

namespace linnet::command {

/// The options that a command line gave, by their longest names, e.g. "--output". Each option acts
/// or is refused: what reads an input says which options do nothing for it, before the work begins.
class GivenOptions {
 public:
  GivenOptions() = default;
  /// `command` has been parsed.
  explicit GivenOptions(const CLI::App& command);

  bool has(const std::string& name) const { return given_.contains(name); }
  /// Returns whether the option was given with this value.
  bool has(const std::string& name, const std::string& value) const;

  /// Throws Error if one of `names` was given: "--a and --b are for PURPOSE; INPUT: leave them
  /// out". A name may have a value, "--a x", which alone is refused then.
  void refuse(const std::vector<std::string>& names, const std::string& purpose,
              const std::string& input) const;

 private:
  std::map<std::string, std::vector<std::string>> given_;
};

}  // namespace linnet::command
