// SPDX-License-Identifier: Apache-2.0
#include "data/csv.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/files.h"

namespace linnet {
namespace {

/// Takes one row after the other off the front of a file.
class Rows {
 public:
  Rows(std::string_view text, const std::filesystem::path& path) : text_(text), path_(path) {}

  bool done() const { return text_.empty(); }
  std::size_t line() const { return line_; }

  std::vector<std::string> next() {
    std::vector<std::string> fields;
    do fields.push_back(field());
    while (take(','));
    take('\r');
    require<DataError>(done() || take('\n'), "line {} of '{}' goes on after a closing quote", line_,
                       path_.string());
    ++line_;
    return fields;
  }

 private:
  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string field() {
    if (take('"')) return quoted();
    const std::size_t end = std::min(text_.find_first_of(",\r\n"), text_.size());
    std::string value(text_.substr(0, end));
    text_.remove_prefix(end);
    return value;
  }

  /// After the opening quote; two quotes stand for one.
  std::string quoted() {
    const std::size_t begin = line_;
    std::string value;
    while (true) {
      const std::size_t end = text_.find('"');
      require<DataError>(end != std::string_view::npos, "line {} of '{}' has a quote without end",
                         begin, path_.string());
      const std::string_view part = text_.substr(0, end);
      line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
      value += part;
      text_.remove_prefix(end + 1);
      if (!take('"')) return value;
      value += '"';
    }
  }

  std::string_view text_;
  const std::filesystem::path& path_;
  std::size_t line_ = 1;
};

}  // namespace

std::optional<std::size_t> CsvTable::find(std::string_view column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

CsvTable read_csv(const std::filesystem::path& path) {
  const std::string content = read_file(path);
  std::string_view text = content;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Rows rows(text, path);
  CsvTable table;
  while (!rows.done()) {
    const std::size_t line = rows.line();
    std::vector<std::string> fields = rows.next();
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (table.columns.empty()) {
      table.columns = std::move(fields);
      continue;
    }
    require<DataError>(fields.size() == table.columns.size(),
                       "line {} of '{}' has {} fields; its first row names {} columns", line,
                       path.string(), fields.size(), table.columns.size());
    table.rows.push_back(std::move(fields));
    table.lines.push_back(line);
  }
  require<DataError>(!table.columns.empty(), "'{}' is empty; expected a row of column names",
                     path.string());
  return table;
}

}  // namespace linnet
