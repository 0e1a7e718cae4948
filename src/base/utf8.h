// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace linnet {

/// Returns whether `text` is well-formed UTF-8 (Unicode 15, table 3-7), which is all that JSON, and
/// so a model file, can hold.
bool is_utf8(std::string_view text);

/// Returns whether a byte of UTF-8 begins a character; false for the second to fourth byte of one.
constexpr bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

/// Returns the bytes of a byte order mark at the beginning of a file's text: 3, or 0 without one.
constexpr std::size_t byte_order_mark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
}

/// Returns text that somebody else wrote (a name of a class, a column, a file, a tensor) as one
/// line that is safe in any terminal, log and field between tabs: bytes that are not part of
/// well-formed UTF-8 and ASCII's control characters as \x1B; other control characters, line
/// separators and marks that turn the direction of writing as \u202E.
std::string escaped(std::string_view text);

/// Does the same for text of several lines or fields, which keeps its newlines and tabs. JSON
/// remains valid JSON.
std::string printable(std::string_view text);

/// Returns the text where it has at most `most` bytes; else its beginning and its end, without
/// half a character: "abc ... (3812 bytes are left out) ... xyz".
std::string shortened(std::string_view text, std::size_t most);

}  // namespace linnet
