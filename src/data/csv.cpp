// SPDX-License-Identifier: Apache-2.0
#include "data/csv.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "data/delimited.h"

namespace linnet {

std::optional<std::size_t> CsvTable::find(std::string_view column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

CsvTable read_csv(const std::filesystem::path& path) {
  const Records records(read_file(path), {}, path);
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

}  // namespace linnet
