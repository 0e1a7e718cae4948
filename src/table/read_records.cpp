// SPDX-License-Identifier: Apache-2.0
// Separator and header of a table.
#include <algorithm>
#include <array>
#include <set>

#include "base/check.h"
#include "base/utf8.h"
#include "table/contents.h"

namespace linnet {
namespace {

constexpr std::size_t kSampleBytes = std::size_t{1} << 18;
constexpr std::size_t kSampleRecords = 100;
constexpr std::size_t kHeaderRows = 1000;  // that are looked at
constexpr std::size_t kMostColumns = std::size_t{1} << 16;
constexpr std::array<char, 4> kSeparators{'\t', ';', '|', ','};

std::string_view separator_name(char separator) {
  return separator == '\t' ? "a tab"
                           : std::string_view(separator == ';'   ? "';'"
                                              : separator == '|' ? "'|'"
                                                                 : "','");
}

/// The first records; of a text cut in the middle of a record without that one.
std::string sample_of(const std::string& text) {
  if (text.size() <= kSampleBytes) return text;
  const std::size_t end = text.rfind('\n', kSampleBytes);
  return text.substr(0, end == std::string::npos ? kSampleBytes : end);
}

/// How many fields each record has with this separator; 0 where they differ or quotes do not fit.
std::size_t fields_with(char separator, const std::string& sample, const std::string& name) {
  try {
    const Records records(sample,
                          {.separator = separator, .trims = true, .most_records = kSampleRecords},
                          name);
    if (records.size() == 0) return 0;
    const std::size_t fields = records[0].size();
    for (std::size_t i = 1; i < records.size(); ++i) {
      if (records[i].size() != fields) return 0;
    }
    return fields;
  } catch (const DataError&) {
    return 0;
  }
}

char find_separator(const std::string& text, const std::string& name) {
  const std::string sample = sample_of(text);
  for (const char separator : kSeparators) {
    if (fields_with(separator, sample, name) > 1) return separator;
  }
  // Of records that differ the error is told in the words of the separator that is most frequent.
  const std::string_view line = std::string_view(sample).substr(0, sample.find('\n'));
  char most = ',';
  std::ptrdiff_t count = 0;
  for (const char separator : kSeparators) {
    const std::ptrdiff_t here = std::ranges::count(line, separator);
    if (here > count) most = separator;
    count = std::max(count, here);
  }
  return most;
}

bool is_value(std::string_view text) {
  return read_number(text).readings != 0 || date_of(text, DateOrder::year_first) ||
         date_of(text, DateOrder::day_first) || date_of(text, DateOrder::month_first);
}

/// Whether the first record names the columns: more columns say so than say that it does not.
bool find_header(const TableContents& table) {
  const Records& records = table.records;
  if (records.size() < 2) return false;
  int votes = 0;
  std::set<std::string_view> names;
  for (std::size_t column = 0; column < records[0].size(); ++column) {
    const std::string_view first = records.text(records[0][column]);
    if (table.is_missing(first, true) || !names.insert(first).second) {
      --votes;  // a name is neither missing nor given twice
      continue;
    }
    std::size_t values = 0;
    std::size_t present = 0;
    bool repeated = false;
    for (std::size_t i = 1; i < std::min(records.size(), kHeaderRows); ++i) {
      const std::string_view text = records.text(records[i][column]);
      if (table.is_missing(text, true)) continue;
      ++present;
      repeated = repeated || text == first;
      if (is_value(text)) ++values;
    }
    const bool of_values = present > 0 && 2 * values > present;
    if (is_value(first)) {
      votes -= 2;
    } else if (of_values) {
      votes += 2;
    } else {
      votes += repeated ? -1 : 1;
    }
  }
  return votes > 0;
}

void name_columns(TableContents& table) {
  const std::size_t count = table.records[0].size();
  std::set<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    std::string name = table.header ? std::string(table.records.text(table.records[0][i])) : "";
    if (name.empty()) name = fmt::format("column_{}", i + 1);
    require<DataError>(names.insert(name).second, "'{}' has two columns '{}'", table.name, name);
    table.columns.push_back({.name = std::move(name)});
  }
}

void check_fields(const TableContents& table) {
  const Records& records = table.records;
  const std::size_t count = records[0].size();
  require<DataError>(count <= kMostColumns, "'{}' has {} columns; expected at most {}", table.name,
                     count, kMostColumns);
  for (std::size_t i = 1; i < records.size(); ++i) {
    require<DataError>(records[i].size() == count,
                       "line {} of '{}' has {} fields; its first record has {} (fields are parted "
                       "by {})",
                       records.line(i), table.name, records[i].size(), count,
                       separator_name(table.separator));
  }
}

void check_utf8(const TableContents& table) {
  for (std::size_t i = 0; i < table.records.size(); ++i) {
    for (std::size_t column = 0; column < table.records[i].size(); ++column) {
      const std::string_view text = table.records.text(table.records[i][column]);
      require<DataError>(is_utf8(text),
                         "line {} of '{}', column {}: '{}' is not UTF-8; save the "
                         "file as UTF-8",
                         table.records.line(i), table.name, column + 1,
                         escaped(text.substr(0, 80)));
    }
  }
}

/// Leaves out the line "sep=;" with which spreadsheets begin some files.
void drop_separator_line(std::string& text) {
  constexpr std::string_view kMark = "sep=";
  const std::size_t begin = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  if (text.compare(begin, kMark.size(), kMark) != 0) return;
  const std::size_t end = text.find_first_of("\r\n", begin);
  if (end == begin + kMark.size() + 1) text.erase(begin, end - begin);
}

/// Throws DataError for a table of one column whose fields blanks part.
void check_blanks(const TableContents& table) {
  const auto count = [&](std::size_t record) {
    std::size_t fields = 0;
    const std::string_view text = table.records.text(table.records[record][0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != ' ' && (i == 0 || text[i - 1] == ' ')) ++fields;
    }
    return fields;
  };
  const std::size_t sampled = std::min(table.records.size(), kSampleRecords);
  const std::size_t fields = count(0);
  if (table.records[0].size() != 1 || sampled < 3 || fields < 2) return;
  for (std::size_t i = 1; i < sampled; ++i) {
    if (count(i) != fields) return;
    const std::string_view text = table.records.text(table.records[i][0]);
    if (!number_of(text.substr(0, text.find(' ')), '.')) return;
  }
  fail<DataError>("the fields of '{}' are parted by blanks; expected ',', ';', '|' or tabs",
                  table.name);
}

}  // namespace

TextSet::TextSet(const std::vector<std::string>& texts) : texts_(texts.begin(), texts.end()) {
  texts_.erase("");
  for (const std::string& text : texts_) {
    starts_.set(static_cast<unsigned char>(text[0]));
    sizes_.set(std::min(text.size(), sizes_.size() - 1));
  }
}

std::string TableContents::place(std::size_t row, std::size_t column) const {
  return fmt::format("'{}', row {} (line {}), column '{}'", name, row + 1, line(row),
                     columns[column].name);
}

std::shared_ptr<TableContents> read_records(std::string text, const std::string& name,
                                            const TableOptions& options) {
  drop_separator_line(text);
  const bool utf8 = is_utf8(text);
  const char found = find_separator(text, name);
  const char separator = options.separator.value_or(found);
  Records records(std::move(text), {.separator = separator, .trims = true}, name);
  require<DataError>(records.size() > 0, "'{}' is empty; expected a table", name);
  std::shared_ptr<TableContents> table(
      new TableContents{.name = name, .records = std::move(records), .separator = separator});
  table->missing_texts = TextSet(options.missing);
  table->missing_words = TextSet(options.missing_words);
  check_fields(*table);
  check_blanks(*table);
  if (!utf8) check_utf8(*table);
  if (separator != found) table->given.separator = separator;
  table->header = find_header(*table);
  if (options.header && *options.header != table->header) {
    table->header = *options.header;
    table->given.header = table->header;
  }
  require<DataError>(table->rows() > 0, "'{}' holds a header and no rows", name);
  name_columns(*table);
  return table;
}

}  // namespace linnet
