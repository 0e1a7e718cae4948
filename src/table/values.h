// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/utf8.h"

namespace linnet {

/// Returns the number that a text is, whole and without blanks; infinite where it says so or is
/// beyond a double. Nothing for any other text, "nan" too. `decimal`: '.' or ','.
std::optional<double> number_of(std::string_view text, char decimal);

/// Returns whether a text is a whole number of at most 18 digits.
bool is_integer(std::string_view text);

/// Returns 1 or 0 for the words of booleans, in any case, and for 1.0 and 0.0; nothing for others.
std::optional<bool> boolean_of(std::string_view text);

/// Returns as much of a file's text as a message has room for, without half a character.
inline std::string_view in_message(std::string_view text) {
  constexpr std::size_t kMost = 100;
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while (end > 0 && !begins_character(text[end])) --end;
  return text.substr(0, end);
}

}  // namespace linnet
