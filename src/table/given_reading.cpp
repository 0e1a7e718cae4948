// SPDX-License-Identifier: Apache-2.0
#include "table/given_reading.h"

#include "base/check.h"
#include "table/contents.h"

namespace linnet {
namespace {

constexpr std::string_view kSeparator = "separator=";
constexpr std::string_view kDecimal = "decimal=";
constexpr std::string_view kHeader = "header";
constexpr std::string_view kComment = "comment=";
constexpr std::string_view kNoComments = "no-comments";
constexpr std::string_view kEncoding = "encoding=";
constexpr std::string_view kSeparators = ",;|\t ";
constexpr std::string_view kDecimals = ".,";
constexpr std::string_view kThousands = "thousands=";
constexpr std::string_view kGroups = ",. '0";  // 0: digits are not grouped

/// Takes a word away, and a blank after it.
bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  if (text.starts_with(' ')) text.remove_prefix(1);
  return true;
}

/// Returns the character after `name`, one of `known` where that is not empty, and takes both away;
/// null: another word.
std::optional<char> take(std::string_view& text, std::string_view name, std::string_view known) {
  if (!text.starts_with(name) || text.size() == name.size()) return std::nullopt;
  const char value = text[name.size()];
  if (!known.empty() && known.find(value) == std::string_view::npos) return std::nullopt;
  take_word(text, text.substr(0, name.size() + 1));
  return value;
}

}  // namespace

std::string GivenReading::text() const {
  std::string all;
  const auto add = [&](std::string_view name, std::optional<char> value) {
    if (!all.empty()) all += ' ';
    all += name;
    if (value) all += *value;
  };
  if (separator) add(kSeparator, separator);
  if (decimal) add(kDecimal, decimal);
  if (thousands) add(kThousands, *thousands == '\0' ? '0' : *thousands);
  if (header) add(kHeader, {});
  if (comment == '\0') {
    add(kNoComments, {});
  } else if (comment) {
    add(kComment, comment);
  }
  if (!encoding.empty()) {
    add(kEncoding, {});
    all += encoding;
  }
  return all;
}

GivenReading GivenReading::from(std::string_view text, std::string_view where) {
  GivenReading given;
  std::string_view rest = text;
  given.separator = take(rest, kSeparator, kSeparators);
  given.decimal = take(rest, kDecimal, kDecimals);
  given.thousands = take(rest, kThousands, kGroups);
  if (given.thousands == '0') given.thousands = '\0';
  given.header = take_word(rest, kHeader);
  given.comment = take_word(rest, kNoComments) ? std::optional('\0') : take(rest, kComment, {});
  if (take_word(rest, kEncoding)) given.encoding = rest;
  require<DataError>(given.text() == text, "{}: 'reading' does not say how a table is read", where);
  return given;
}

void GivenReading::apply(TableOptions& options) const {
  if (separator) options.separator = separator;
  if (decimal) options.decimal = decimal;
  if (thousands) options.thousands = thousands;
  if (header) options.header = true;
  if (comment) options.comment = comment;
  options.encoding = encoding;
}

LearnedReading LearnedReading::of(const TableContents& table) {
  LearnedReading reading{.header = table.header,
                         .given = table.given,
                         .missing = table.missing_texts.sorted(),
                         .words = table.missing_words.sorted()};
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const NumberFormat& format = table.readings[i].format;
    if (format.plain() && table.columns[i].type != ColumnType::number) continue;
    reading.formats[table.columns[i].name] = format;
  }
  return reading;
}

TableOptions LearnedReading::options() const {
  TableOptions options;
  options.missing = missing;
  options.missing_words = words;
  if (!header) options.header = false;
  given.apply(options);
  return options;
}

}  // namespace linnet
