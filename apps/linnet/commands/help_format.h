// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace linnet::command {

/// Writes the help page of a command in at most 100 columns: groups of options in the order in
/// which they were added, kMostUsed first and --help last.
class HelpFormat final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

/// Returns a sentence on what a command needs, with the description of the argument with which
/// CLI11's message begins, or the names of its commands; else the message itself.
std::string missing_argument(const CLI::App& command, const std::string& message);

}  // namespace linnet::command
