// SPDX-License-Identifier: Apache-2.0
#include "formats/csv.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "formats/delimited.h"

namespace linnet {

std::optional<std::size_t> CsvTable::find(std::string_view column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

namespace {

/// Semicolons or tabs where the first line has no comma.
DelimitedFormat format_of(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  for (const char separator : {',', ';', '\t'}) {
    if (line.find(separator) != line.npos) return {.separator = separator};
  }
  return {};
}

Records records_of(std::string text, const std::filesystem::path& path) {
  const DelimitedFormat format = format_of(text);
  return Records(std::move(text), format, path);
}

}  // namespace

CsvTable read_csv(const std::filesystem::path& path) {
  const Records records = records_of(read_file(path), path);
  require<DataError>(records.size() > 0, "'{}' is empty; expected a row of column names",
                     path.string());
  CsvTable table;
  for (std::size_t i = 0; i < records.size(); ++i) {
    std::vector<std::string> fields;
    for (const FieldText& field : records[i]) fields.emplace_back(records.text(field));
    if (i == 0) {
      table.columns = std::move(fields);
      continue;
    }
    require<DataError>(
        fields.size() == table.columns.size(),
        "line {} of '{}' has {} fields; expected {}, one for each column of the first row",
        records.line(i), path.string(), fields.size(), table.columns.size());
    table.rows.push_back(std::move(fields));
    table.lines.push_back(records.line(i));
  }
  return table;
}

std::vector<std::string> csv_columns(const std::filesystem::path& path) {
  constexpr std::size_t kStart = std::size_t{1} << 16;
  try {
    std::string start(kStart, '\0');
    start.resize(InputFile(path).read(start));
    start.resize(std::min(start.find('\n'), start.size()));
    const Records records = records_of(std::move(start), path);
    std::vector<std::string> columns;
    if (records.size() == 0) return columns;
    for (const FieldText& field : records[0]) columns.emplace_back(records.text(field));
    return columns;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace linnet
