// SPDX-License-Identifier: Apache-2.0
#include "table/raw_columns.h"

#include <algorithm>

#include "base/check.h"

namespace linnet {
namespace {

void add_quoted(std::string& text, const std::string& field) {
  text += '"';
  for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  text += '"';
}

}  // namespace

std::vector<RawColumn> raw_columns(const TableTransform& transform) {
  std::vector<RawColumn> columns;
  std::size_t features = 0;
  std::size_t ids = 0;
  for (const TableInput& input : transform.record().inputs) {
    RawColumn column{.name = column_of(input), .input = input, .first = features};
    const auto* category = std::get_if<CategoryInput>(&input);
    if (category != nullptr && category->embedded) {
      column.id = ids++;
    } else {
      column.width = static_cast<std::size_t>(width_of(input));
    }
    features += column.width;
    columns.push_back(std::move(column));
  }
  return columns;
}

std::size_t place_in(const TableTransform& transform, const Table& rows,
                     const std::string& column) {
  const TransformRecord& record = transform.record();
  if (record.reading.header && rows.has_header()) return rows.find(column);
  const auto place =
      static_cast<std::size_t>(std::ranges::find(record.columns, column) - record.columns.begin());
  require<DataError>(place < rows.columns().size(), "'{}' has no column '{}'", rows.name(), column);
  return place;
}

Dataset inputs_of_texts(const TableTransform& transform,
                        const std::vector<std::vector<std::string>>& rows,
                        const std::string& name) {
  const TransformRecord& record = transform.record();
  std::vector<std::optional<std::size_t>> sources;  // by column of the file: its text in a row
  for (const std::string& column : record.columns) {
    const auto found = std::ranges::find_if(record.inputs, [&](const TableInput& input) {
      return column_of(input) == column;
    });
    sources.push_back(found == record.inputs.end()
                          ? std::nullopt
                          : std::optional(static_cast<std::size_t>(found - record.inputs.begin())));
  }
  std::vector<std::vector<std::string>> all;
  for (const std::vector<std::string>& row : rows) {
    std::vector<std::string>& fields = all.emplace_back();
    for (const auto& source : sources) fields.push_back(source ? row[*source] : std::string());
  }
  const std::vector<std::string> none;
  return transform.inputs(
      table_of_texts(record.reading.header ? record.columns : none, all, name,
                     {.missing = record.reading.missing, .missing_words = record.reading.words}));
}

Table table_of_texts(const std::vector<std::string>& names,
                     const std::vector<std::vector<std::string>>& rows, const std::string& name,
                     TableOptions options) {
  std::string text;
  const auto add_row = [&](const std::vector<std::string>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) text += ',';
      add_quoted(text, fields[i]);
    }
    text += '\n';
  };
  if (!names.empty()) add_row(names);
  for (const std::vector<std::string>& row : rows) add_row(row);
  options.separator = ',';
  options.decimal = '.';
  options.header = !names.empty();
  options.comment = '\0';
  return parse_table(std::move(text), name, options);
}

}  // namespace linnet
