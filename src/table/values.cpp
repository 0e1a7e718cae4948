// SPDX-License-Identifier: Apache-2.0
#include "table/values.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <system_error>

#include "base/ascii.h"
#include "base/decimal.h"
#include "table/number_format.h"

namespace linnet {
namespace {

constexpr std::size_t kMostDigits = 18;
constexpr std::size_t kLongestNumber = 512;

}  // namespace

std::optional<double> number_of(std::string_view text, char decimal) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || text.size() > kLongestNumber) return std::nullopt;
  if (digits.front() == 'n' || digits.front() == 'N') return std::nullopt;
  std::array<char, kLongestNumber> point;
  if (decimal == ',') {
    if (text.find('.') != std::string_view::npos) return std::nullopt;
    std::ranges::replace_copy(text, point.begin(), ',', '.');
    text = {point.data(), text.size()};
  }
  double value = 0;
  const auto [end, error] = read_decimal(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    const std::size_t exponent = text.find_first_of("eE");
    const bool tiny = exponent == std::string_view::npos
                          ? digits.front() == '0' || digits.front() == '.'
                          : text[exponent + 1] == '-';
    return tiny ? 0 : std::numeric_limits<double>::infinity();
  }
  if (error != std::errc()) return std::nullopt;
  return value;
}

bool is_integer(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.size() <= kMostDigits && std::ranges::all_of(text, is_digit);
}

std::optional<bool> boolean_of(std::string_view text) {
  text = whole_text(text);
  if (text.size() > 5) return std::nullopt;
  const std::string lower = lower_ascii(text);
  for (const char* word : {"1", "true", "yes", "t", "y"}) {
    if (lower == word) return true;
  }
  for (const char* word : {"0", "false", "no", "f", "n"}) {
    if (lower == word) return false;
  }
  return std::nullopt;
}

}  // namespace linnet
