// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace linnet {

/// Returns whether a byte is one of 0 to 9.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the text with A to Z in lower case; all other bytes stay as they are.
inline std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return lower;
}

}  // namespace linnet
