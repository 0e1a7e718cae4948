// SPDX-License-Identifier: Apache-2.0
#include "report/csv.h"

namespace linnet::command {

std::string csv_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_field(std::string_view text, bool safe) {
  constexpr std::string_view kFormula = "=+-@\t\r";
  if (safe && !text.empty() && kFormula.find(text[0]) != std::string_view::npos) {
    return csv_quoted("'" + std::string(text));
  }
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos;
  return plain ? std::string(text) : csv_quoted(text);
}

bool is_csv_name(const std::filesystem::path& path) { return path.extension() == ".csv"; }

}  // namespace linnet::command
