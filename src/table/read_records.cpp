// SPDX-License-Identifier: Apache-2.0
// Separator and header of a table.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>

#include "base/check.h"
#include "base/join.h"
#include "base/utf8.h"
#include "table/contents.h"

namespace linnet {
namespace {

constexpr std::size_t kSampleBytes = std::size_t{1} << 18;
constexpr std::size_t kSampleRecords = 100;
constexpr std::size_t kMostName = 4096;    // bytes of a column's
constexpr std::size_t kHeaderRows = 1000;  // that are looked at
constexpr std::array<char, 4> kSeparators{'\t', ';', '|', ','};

std::string_view separator_name(char separator) {
  return separator == '\t' ? "a tab"
                           : std::string_view(separator == ';'   ? "';'"
                                              : separator == '|' ? "'|'"
                                              : separator == ' ' ? "blanks"
                                                                 : "','");
}

/// The first records; of a text cut in the middle of a record without that one.
std::string sample_of(const std::string& text) {
  if (text.size() <= kSampleBytes) return text;
  const std::size_t end = text.rfind('\n', kSampleBytes);
  return text.substr(0, end == std::string::npos ? kSampleBytes : end);
}

bool ends_empty(std::span<const FieldText> fields) {
  return fields.size() > 1 && fields.back().size == 0 && fields.back().quoted == 0;
}

/// How many fields the records have; 0 where they differ. An empty last one is none where all have
/// it, all but the first, or the first alone.
std::size_t fields_of(const Records& records) {
  const std::size_t first = records[0].size();
  if (records.size() == 1) return first;
  const std::size_t others = records[1].size();
  bool all_empty = true;
  for (std::size_t i = 1; i < records.size(); ++i) {
    if (records[i].size() != others) return 0;
    all_empty = all_empty && ends_empty(records[i]);
  }
  const bool first_empty = ends_empty(records[0]);
  if (first == others) return first_empty && all_empty ? first - 1 : first;
  if (others == first + 1 && all_empty) return first;
  return first == others + 1 && first_empty ? others : 0;
}

/// The first records of a text, parted by a separator; none where quotes do not fit.
std::optional<Records> sampled(char separator, const std::string& sample, const std::string& name,
                               char comment) {
  try {
    Records records(
        sample,
        {.separator = separator, .trims = true, .most_records = kSampleRecords, .comment = comment},
        name);
    if (records.size() == 0) return std::nullopt;
    return records;
  } catch (const DataError&) {
    return std::nullopt;
  }
}

/// Whether all records but the first hold numbers that blanks part: in one of their first fields,
/// parted by a separator, and where `blanks` part all of it in one column.
bool blanks_part(const Records& found, const Records& blanks) {
  constexpr std::size_t kLeast = 3;
  if (blanks.size() < kLeast) return false;
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (found.text(found[i][0]).find(' ') == std::string_view::npos) return false;
  }
  for (std::size_t column = 0; column < blanks[0].size(); ++column) {
    bool numbers = true;
    for (std::size_t i = 1; i < blanks.size() && numbers; ++i) {
      numbers =
          column < blanks[i].size() && number_of(blanks.text(blanks[i][column]), '.').has_value();
    }
    if (numbers) return true;
  }
  return false;
}

char find_separator(const std::string& text, const std::string& name, char comment) {
  const std::string sample = sample_of(text);
  const std::optional<Records> blanks = sampled(' ', sample, name, comment);
  const std::size_t parted = blanks ? fields_of(*blanks) : 0;
  for (const char separator : kSeparators) {
    const std::optional<Records> found = sampled(separator, sample, name, comment);
    const std::size_t fields = found ? fields_of(*found) : 0;
    if (separator == ',' || fields > 1) {
      // A line of numbers between blanks may end in a tab and a name.
      if (parted > std::max<std::size_t>(fields, 1) && found && blanks_part(*found, *blanks)) {
        return ' ';
      }
    }
    if (fields > 1) return separator;
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
  const NumberText number = read_number(text);
  // A column may be called 08:00, or 100 m.
  if (number.readings != 0 && (number.unit.empty() || is_sign(number.unit))) return true;
  return date_of(text, {DateOrder::year_first}) || date_of(text, {DateOrder::day_first}) ||
         date_of(text, {DateOrder::month_first});
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
  std::set<std::string> given;
  for (std::size_t i = 0; i < count && table.header; ++i) {
    const std::string_view name = table.records.text(table.records[0][i]);
    require<DataError>(name.size() <= kMostName,
                       "'{}' has a column whose name has {} bytes, '{}...'; expected at most {}",
                       table.name, name.size(), in_message(name), kMostName);
    given.emplace(name);
  }
  std::set<std::string> names;
  std::vector<std::string> renamed;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string in_file =
        table.header ? std::string(table.records.text(table.records[0][i])) : "";
    const std::string wanted = in_file.empty() ? fmt::format("column_{}", i + 1) : in_file;
    std::string name = wanted;
    for (int number = 2; names.contains(name) || (name != in_file && given.contains(name));) {
      name = fmt::format("{}_{}", wanted, number++);
    }
    if (!in_file.empty() && name != in_file) renamed.push_back("'" + escaped(name) + "'");
    names.insert(name);
    table.columns.push_back({.name = std::move(name)});
  }
  if (renamed.empty()) return;
  constexpr std::size_t kMostListed = 5;
  const std::size_t all = renamed.size();
  renamed.resize(std::min(all, kMostListed));
  table.notes.push_back(
      fmt::format("columns with the name of another one are called {}{}", join(renamed, ", "),
                  all > kMostListed ? fmt::format(" and {} more", all - kMostListed) : ""));
}

void check_fields(TableContents& table, std::size_t most) {
  Records& records = table.records;
  const std::size_t first = records[0].size();
  const std::size_t count = fields_of(records);
  for (std::size_t i = 1; i < records.size() && count == 0; ++i) {
    require<DataError>(records[i].size() == first,
                       "line {} of '{}' has {} fields; its first record has {} (fields are parted "
                       "by {})",
                       records.line(i), table.name, records[i].size(), first,
                       separator_name(table.separator));
  }
  require<DataError>(count <= most, "'{}' has {} columns; expected at most {}", table.name, count,
                     most);
  if (count < std::max(first, records[records.size() - 1].size())) records.keep_fields(count);
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
  const std::size_t begin = byte_order_mark(text);
  if (text.compare(begin, kMark.size(), kMark) != 0) return;
  const std::size_t end = text.find_first_of("\r\n", begin);
  if (end == begin + kMark.size() + 1) text.erase(begin, end - begin);
}

/// Lines of comments at the beginning of a text.
struct Comments {
  char mark = '\0';
  std::size_t last = std::string::npos;  ///< where the last of the first ones begins
};

/// Finds them: `given`, else those that begin with #.
Comments find_comments(std::string_view text, std::optional<char> given) {
  Comments comments{.mark = given.value_or('#')};
  std::size_t at = byte_order_mark(text);
  while (at < text.size()) {
    if (text[at] == comments.mark) {
      comments.last = at;
    } else if (text[at] != '\n' && text[at] != '\r') {
      break;
    }
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  // Where all lines begin so, they are rows.
  const bool none = comments.last == std::string::npos || at >= text.size();
  if (none && !given) comments = {};
  return comments;
}

/// Makes the last of the first comments a record where it has a field for each column: so files of
/// NumPy and of genomes name their columns.
void take_names(std::string& text, const std::string& name, const Comments& comments,
                char separator) {
  if (comments.last == std::string::npos || comments.mark == '\0') return;
  const std::optional<Records> rows = sampled(separator, sample_of(text), name, comments.mark);
  const std::size_t end = std::min(text.find_first_of("\r\n", comments.last), text.size());
  std::size_t begin = comments.last;
  while (begin < end && text[begin] == comments.mark) ++begin;
  const std::optional<Records> names =
      sampled(separator, text.substr(begin, end - begin), name, '\0');
  const std::size_t fields = rows ? fields_of(*rows) : 0;
  if (!names || fields < 2 || fields_of(*names) != fields) return;
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(comments.last),
            text.begin() + static_cast<std::ptrdiff_t>(begin), ' ');
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
                     in_message(columns[column].name));
}

std::shared_ptr<TableContents> read_records(std::string text, const std::string& name,
                                            const TableOptions& options, std::size_t most_columns) {
  drop_separator_line(text);
  const bool utf8 = is_utf8(text);
  const Comments unasked = find_comments(text, {});
  const Comments comments = options.comment ? find_comments(text, options.comment) : unasked;
  const char found = find_separator(text, name, comments.mark);
  const char separator = options.separator.value_or(found);
  take_names(text, name, comments, separator);
  Records records(std::move(text),
                  {.separator = separator, .trims = true, .comment = comments.mark}, name);
  require<DataError>(records.size() > 0, "'{}' is empty; expected a table", name);
  std::shared_ptr<TableContents> table(
      new TableContents{.name = name, .records = std::move(records), .separator = separator});
  if (table->records.comments() > 0) {
    table->notes.push_back(fmt::format("lines that begin with '{}' are comments: {} of '{}'",
                                       comments.mark, table->records.comments(), name));
  }
  table->missing_texts = TextSet(options.missing);
  table->missing_words = TextSet(options.missing_words);
  check_fields(*table, most_columns);
  if (!utf8) check_utf8(*table);
  if (separator != found) table->given.separator = separator;
  if (options.comment && options.comment != unasked.mark) table->given.comment = options.comment;
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
