// SPDX-License-Identifier: Apache-2.0
#include "table/given_reading.h"

#include "base/check.h"
#include "table/contents.h"

namespace linnet {
namespace {

constexpr std::string_view kSeparator = "separator=";
constexpr std::string_view kDecimal = "decimal=";
constexpr std::string_view kHeader = "header";
constexpr std::string_view kSeparators = ",;|\t";
constexpr std::string_view kDecimals = ".,";
constexpr std::string_view kThousands = "thousands=";
constexpr std::string_view kGroups = ",. '0";  // 0: digits are not grouped

/// Returns the character after `name`, one of `known`, and takes both away; null: another word.
std::optional<char> take(std::string_view& text, std::string_view name, std::string_view known) {
  if (!text.starts_with(name) || text.size() == name.size()) return std::nullopt;
  const char value = text[name.size()];
  if (known.find(value) == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name.size() + 1);
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
  return all;
}

GivenReading GivenReading::from(std::string_view text, std::string_view where) {
  GivenReading given;
  std::string_view rest = text;
  given.separator = take(rest, kSeparator, kSeparators);
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  given.decimal = take(rest, kDecimal, kDecimals);
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  given.thousands = take(rest, kThousands, kGroups);
  if (given.thousands == '0') given.thousands = '\0';
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  given.header = rest == kHeader;
  require<DataError>(given.text() == text, "{}: 'reading' does not say how a table is read", where);
  return given;
}

void GivenReading::apply(TableOptions& options) const {
  if (separator) options.separator = separator;
  if (decimal) options.decimal = decimal;
  if (thousands) options.thousands = thousands;
  if (header) options.header = true;
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
