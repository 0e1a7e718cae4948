// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace linnet {

/// Reads a decimal number as std::from_chars() does, which libc++ has of numbers with a point from
/// version 20 on only. Texts of at most 512 characters.
template <std::floating_point Number>
std::from_chars_result read_decimal(const char* first, const char* last, Number& value) {
#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
  constexpr std::string_view kBegins = "-.0123456789iInN";
  const std::string_view text(first, static_cast<std::size_t>(last - first));
  std::array<char, 513> copy{};
  if (text.empty() || text.size() >= copy.size() || kBegins.find(text[0]) == kBegins.npos) {
    return {first, std::errc::invalid_argument};
  }
  // Unlike strtod() it knows no hexadecimal numbers: "0x1" is 0.
  text.substr(0, text.find_first_of("xX")).copy(copy.data(), text.size());
  char* end = nullptr;
  Number read = 0;
  if constexpr (std::is_same_v<Number, float>) {
    read = std::strtof(copy.data(), &end);
  } else {
    read = std::strtod(copy.data(), &end);
  }
  const char* stopped = first + (end - copy.data());
  if (stopped == first) return {first, std::errc::invalid_argument};
  const bool nonzero =
      text.substr(0, text.find_first_of("eE")).find_first_of("123456789") != std::string_view::npos;
  if ((std::isinf(read) || read == 0) && nonzero) {
    return {stopped, std::errc::result_out_of_range};
  }
  value = read;
  return {stopped, std::errc()};
#else
  return std::from_chars(first, last, value);
#endif
}

}  // namespace linnet
