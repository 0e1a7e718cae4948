// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace linnet::command {

/// Returns a text in quotes, as a field of a CSV file (RFC 4180).
std::string csv_quoted(std::string_view text);

/// Returns a text as a field of a CSV file: in quotes where it needs them. `safe`: after a ' where
/// it begins like a formula (=, +, -, @, tab, carriage return), which spreadsheets would run.
std::string csv_field(std::string_view text, bool safe = false);

/// Returns whether a file is named like a CSV file.
bool is_csv_name(const std::filesystem::path& path);

}  // namespace linnet::command
