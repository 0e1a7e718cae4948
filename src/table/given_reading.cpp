// SPDX-License-Identifier: Apache-2.0
#include "table/given_reading.h"

#include "base/check.h"

namespace linnet {
namespace {

constexpr std::string_view kSeparator = "separator=";
constexpr std::string_view kDecimal = "decimal=";
constexpr std::string_view kHeader = "header";
constexpr std::string_view kSeparators = ",;|\t";
constexpr std::string_view kDecimals = ".,";

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
  given.header = rest == kHeader;
  require<DataError>(given.text() == text, "{}: 'reading' does not say how a table is read", where);
  return given;
}

void GivenReading::apply(TableOptions& options) const {
  if (separator) options.separator = separator;
  if (decimal) options.decimal = decimal;
  if (header) options.header = true;
}

}  // namespace linnet
