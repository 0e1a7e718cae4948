// SPDX-License-Identifier: Apache-2.0
#include "table/number_format.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/check.h"
#include "table/dates.h"
#include "table/values.h"

namespace linnet {
namespace {

constexpr std::size_t kLongest = 64;  // of a number with groups or a unit
constexpr std::size_t kGroup = 3;
constexpr std::array<std::string_view, 5> kUnits{"%", "$", "€", "£", "¥"};
// '.': the one that is not the decimal
constexpr std::array<char, 4> kThousands{'\0', '.', ' ', '\''};
constexpr std::size_t kLongestUnit = 12;
// As written in other countries: no-break and thin blanks, the typographic apostrophe, the minus,
// and wide signs.
constexpr std::array<std::pair<std::string_view, char>, 8> kSigns{{{"\u00A0", ' '},
                                                                   {"\u202F", ' '},
                                                                   {"\u2009", ' '},
                                                                   {"\u2019", '\''},
                                                                   {"\u2212", '-'},
                                                                   {"\uFF0D", '-'},
                                                                   {"\uFF0C", ','},
                                                                   {"\uFF0E", '.'}}};
constexpr std::string_view kWideDigits = "\uFF10";  // to U+FF19

char decimal_of(std::size_t reading) { return reading < kThousands.size() ? '.' : ','; }
char thousands_of(std::size_t reading) {
  const char thousands = kThousands[reading % kThousands.size()];
  return thousands == '.' && decimal_of(reading) == '.' ? ',' : thousands;
}

template <class Is>
Readings readings_where(const Is& is) {
  Readings readings = 0;
  for (std::size_t i = 0; i < 2 * kThousands.size(); ++i) {
    if (is(i)) readings = static_cast<Readings>(readings | (1U << i));
  }
  return readings;
}

/// A number without its unit and with plain signs; empty: it is none.
struct Bare {
  std::array<char, kLongest> characters = {};
  std::size_t size = 0;
  std::string_view unit = {};
  bool negative = false;
  double hours = 0;  ///< the number, where the unit is kHours

  std::string_view text() const { return {characters.data(), size}; }
};

/// Takes one of `texts` off the front or the end.
template <class Take>
std::string_view take_unit(const Take& take) {
  for (const std::string_view unit : kUnits) {
    if (take(unit)) return unit;
  }
  return {};
}

/// Returns the hours of a time, 14:05, 36:15:00 or 2:05 PM; nothing for any other text.
std::optional<double> hours_of(std::string_view text) {
  const auto take = [&](std::size_t least, std::size_t most) -> std::optional<double> {
    double value = 0;
    std::size_t digits = 0;
    for (; digits < most && !text.empty() && is_digit(text.front()); ++digits) {
      value = 10 * value + (text.front() - '0');
      text.remove_prefix(1);
    }
    return digits < least ? std::nullopt : std::optional(value);
  };
  const auto take_sixtieth = [&]() -> std::optional<double> {
    if (!text.starts_with(':')) return std::nullopt;
    text.remove_prefix(1);
    const std::optional<double> value = take(2, 2);
    return value && *value < 60 ? value : std::nullopt;
  };
  constexpr std::size_t kMostDigits = 4;
  const std::optional<double> hours = take(1, kMostDigits);
  const std::optional<double> minutes = hours ? take_sixtieth() : std::nullopt;
  if (!minutes) return std::nullopt;
  double value = *hours + *minutes / 60;
  if (text.starts_with(':')) {
    const std::optional<double> seconds = take_sixtieth();
    if (!seconds) return std::nullopt;
    value += *seconds / 3600;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      double unit = 1.0 / 36000;
      for (; !text.empty() && is_digit(text.front()); unit /= 10) {
        value += unit * (text.front() - '0');
        text.remove_prefix(1);
      }
    }
  }
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (text.empty()) return value;
  if (text.size() != 2 || (text[1] | ' ') != 'm' || *hours < 1 || *hours > 12) return std::nullopt;
  const char half = static_cast<char>(text[0] | ' ');
  if (half != 'a' && half != 'p') return std::nullopt;
  return value + (half == 'p' ? 12 : 0) - (*hours == 12 ? 12 : 0);
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}
/// Returns whether a text is a unit in letters, such as kg, km/h or °C.
bool is_named_unit(std::string_view text) {
  return !text.empty() && text.size() <= kLongestUnit && is_letter(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || c == '/' || c == '.'; });
}

/// Takes a unit in letters off the end, after a blank; `text`: what the caller has, where it is
/// found again.
std::string_view take_named_unit(std::string_view& left, std::string_view text) {
  const std::size_t blank = left.rfind(' ');
  if (blank == std::string_view::npos || blank == 0 || !is_digit(left[blank - 1])) return {};
  const std::string_view unit = left.substr(blank + 1);
  // "2024 March" is a date.
  if (!is_named_unit(unit) || !text.ends_with(unit) || date_of(text, DateReading())) return {};
  left = left.substr(0, blank);
  return text.substr(text.size() - unit.size());
}

/// Takes a sign or a wide digit off the front of a text, as a plain one.
char take_plain(std::string_view& text) {
  char plain = text.front();
  std::size_t size = 1;
  if (static_cast<unsigned char>(plain) >= 0x80) {
    const auto sign =
        std::ranges::find_if(kSigns, [&](const auto& one) { return text.starts_with(one.first); });
    if (sign != kSigns.end()) {
      plain = sign->second;
      size = sign->first.size();
    } else if (text.starts_with(kWideDigits.substr(0, 2)) && text.size() > 2) {
      const int digit =
          static_cast<unsigned char>(text[2]) - static_cast<unsigned char>(kWideDigits[2]);
      if (digit >= 0 && digit <= 9) {
        plain = static_cast<char>('0' + digit);
        size = kWideDigits.size();
      }
    }
  }
  text.remove_prefix(size);
  return plain;
}

Bare bare_of(std::string_view text) {
  Bare bare;
  const std::string_view whole = text;
  if (std::ranges::none_of(text, [](char c) {
        return is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
      })) {
    return bare;
  }
  if (text.find(':') != std::string_view::npos) {
    const bool negative = text.starts_with('-');
    const std::optional<double> hours = hours_of(text.substr(negative ? 1 : 0));
    if (!hours) return bare;
    bare.size = 1;  // of a number that no reading changes
    bare.unit = kHours;
    bare.hours = negative ? -*hours : *hours;
    return bare;
  }
  std::array<char, kLongest> plain;
  std::size_t size = 0;
  while (!text.empty()) {
    if (size == plain.size()) return bare;
    plain[size++] = take_plain(text);
  }
  std::string_view left(plain.data(), size);
  const auto trim = [&] {
    while (left.starts_with(' ')) left.remove_prefix(1);
    while (left.ends_with(' ')) left.remove_suffix(1);
  };
  const auto take_sign = [&] {
    if (!left.starts_with('-') && !left.starts_with('+')) return false;
    bare.negative = left.front() == '-';
    left.remove_prefix(1);
    trim();
    return true;
  };
  const bool brackets = left.size() > 2 && left.starts_with('(') && left.ends_with(')');
  if (brackets) left = left.substr(1, left.size() - 2);
  trim();
  bool sign = brackets || take_sign();
  bare.unit = take_unit([&](std::string_view unit) {
    if (!left.starts_with(unit)) return false;
    left.remove_prefix(unit.size());
    return true;
  });
  if (bare.unit.empty()) {
    bare.unit = take_unit([&](std::string_view unit) {
      if (!left.ends_with(unit)) return false;
      left.remove_suffix(unit.size());
      return true;
    });
  }
  if (bare.unit.empty()) bare.unit = take_named_unit(left, whole);
  trim();
  if (!sign && left.size() > 1 && left.ends_with('-')) {  // as SAP writes it
    sign = true;
    bare.negative = true;
    left.remove_suffix(1);
    trim();
  }
  if (!sign) sign = take_sign();
  if (brackets) bare.negative = true;
  if (left.empty() || left.front() == '-' || left.front() == '+') return bare;
  bare.size = left.size();
  std::ranges::copy(left, bare.characters.begin());
  return bare;
}

/// Returns the number under one reading.
std::optional<double> number_under(const Bare& bare, char decimal, char thousands) {
  if (bare.unit == kHours) return bare.hours;
  std::array<char, kLongest> plain;
  std::size_t size = 0;
  const std::string_view text = bare.text();
  const std::size_t end = std::min(text.find(decimal), text.size());
  const std::string_view whole = text.substr(0, end);
  const std::size_t first = thousands == '\0' ? std::string_view::npos : whole.find(thousands);
  if (first != std::string_view::npos) {
    if (first == 0 || first > kGroup || whole.front() == '0') return std::nullopt;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const bool separates = i >= first && (i - first) % (kGroup + 1) == 0;
      if (separates ? whole[i] != thousands : !is_digit(whole[i])) return std::nullopt;
    }
    if ((whole.size() - first) % (kGroup + 1) != 0) return std::nullopt;
  }
  for (const char c : whole) {
    if (c != thousands || thousands == '\0') plain[size++] = c;
  }
  for (std::size_t i = end; i < text.size(); ++i) {
    const char c = text[i];
    if (i > end && (c == '.' || c == ',')) return std::nullopt;
    plain[size++] = i == end ? '.' : c;
  }
  std::optional<double> value = number_of(std::string_view(plain.data(), size), '.');
  if (value && bare.negative) value = -*value;
  return value;
}

constexpr std::string_view kDecimal = "decimal=";
constexpr std::string_view kThousandsWord = "thousands=";
constexpr std::string_view kUnit = "unit=";

}  // namespace

Readings with_decimal(char decimal) {
  return readings_where([&](std::size_t i) { return decimal_of(i) == decimal; });
}
Readings with_thousands(char thousands) {
  return readings_where([&](std::size_t i) { return thousands_of(i) == thousands; });
}

NumberFormat plainest(Readings readings) {
  std::size_t i = 0;
  while (i + 1 < 2 * kThousands.size() && ((readings >> i) & 1U) == 0) ++i;
  return {.decimal = decimal_of(i), .thousands = thousands_of(i)};
}

bool is_sign(std::string_view unit) { return std::ranges::count(kUnits, unit) == 1; }

NumberText read_number(std::string_view text) {
  NumberText read;
  const Bare bare = bare_of(text);
  if (bare.size == 0) return read;
  read.unit = bare.unit;
  read.dot = bare.text().find('.') != std::string_view::npos;
  read.comma = bare.text().find(',') != std::string_view::npos;
  read.readings = readings_where([&](std::size_t i) {
    const std::optional<double> value = number_under(bare, decimal_of(i), thousands_of(i));
    if (value && read.value == 0) read.value = *value;
    return value.has_value();
  });
  return read;
}

std::optional<double> number_of(std::string_view text, const NumberFormat& format) {
  if (format.thousands == '\0' && format.unit.empty()) {
    if (const std::optional<double> value = number_of(text, format.decimal)) return value;
  }
  const Bare bare = bare_of(text);
  if (bare.size == 0 || (!bare.unit.empty() && bare.unit != format.unit)) return std::nullopt;
  return number_under(bare, format.decimal, format.thousands);
}

std::string_view whole_text(std::string_view text) {
  if (text.size() < 3 || text.back() != '0') return text;
  std::size_t at = text.size();
  while (at > 0 && text[at - 1] == '0') --at;
  if (at < 2 || text.size() - at == kGroup || (text[at - 1] != '.' && text[at - 1] != ',')) {
    return text;
  }
  const std::string_view whole = text.substr(0, at - 1);
  const std::string_view digits = whole.starts_with('-') ? whole.substr(1) : whole;
  if (digits == "0") return digits;
  const bool is_whole =
      !digits.empty() && digits.front() != '0' && std::ranges::all_of(digits, is_digit);
  return is_whole ? whole : text;
}

std::string NumberFormat::text() const {
  std::string all = fmt::format("{}{}", kDecimal, decimal);
  if (thousands != '\0') all += fmt::format(" {}{}", kThousandsWord, thousands);
  if (!unit.empty()) all += fmt::format(" {}{}", kUnit, unit);
  return all;
}

NumberFormat NumberFormat::from(std::string_view text, std::string_view where) {
  NumberFormat format;
  std::string_view rest = text;
  const auto take = [&](std::string_view name) {
    if (rest.starts_with(' ')) rest.remove_prefix(1);
    if (!rest.starts_with(name)) return false;
    rest.remove_prefix(name.size());
    return true;
  };
  const auto character = [&] {
    const char c = rest.empty() ? '\0' : rest.front();
    if (!rest.empty()) rest.remove_prefix(1);
    return c;
  };
  if (take(kDecimal)) format.decimal = character();
  if (take(kThousandsWord)) format.thousands = character();
  if (take(kUnit)) format.unit = rest;
  const Readings known = with_decimal(format.decimal) & with_thousands(format.thousands);
  const bool unit = format.unit.empty() || is_sign(format.unit) || format.unit == kHours ||
                    is_named_unit(format.unit);
  require<DataError>(known != 0 && unit && format.text() == text,
                     "{}: 'formats' does not say how numbers are written", where);
  return format;
}

}  // namespace linnet
