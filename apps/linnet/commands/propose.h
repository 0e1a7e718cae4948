// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace linnet::command {

/// Returns what lies at a path, a line or two, and the commands that fit it, one a line with what
/// it does: the answer to `linnet PATH`. Throws Error for data that can't be read, and for a path
/// of which no command knows what to do.
std::string proposal(const std::string& path);

/// Returns the page of `linnet --help`: first steps, then all commands in groups.
std::string help_page(const CLI::App& app);

}  // namespace linnet::command
