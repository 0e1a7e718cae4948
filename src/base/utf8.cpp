// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace linnet {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

/// Returns bytes of the well-formed character at the beginning; 0 where there is none.
std::size_t character(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  const unsigned second = byte_at(text, 1);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (second < least || second > most) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80) return 0;
  }
  return length;
}

/// Returns the number of the well-formed character that `text` is.
unsigned code_point(std::string_view text) {
  if (text.size() == 1) return byte_at(text, 0);
  unsigned code = byte_at(text, 0) & (0xFFU >> (text.size() + 1));
  for (std::size_t i = 1; i < text.size(); ++i) code = code << 6U | (byte_at(text, i) & 0x3FU);
  return code;
}

/// Controls (ESC, the one-byte CSI), separators of lines, and marks of direction (UAX #9).
bool is_control(unsigned code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0x200E || code == 0x200F || code == 0x061C;
}

std::string without_controls(std::string_view text, std::string_view kept) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character(text);
    const unsigned code = length == 0 ? byte_at(text, 0) : code_point(text.substr(0, length));
    if (length == 0 || (code < 0x20 && kept.find(text[0]) == std::string_view::npos)) {
      result += fmt::format("\\x{:02X}", code);
    } else if (code >= 0x20 && is_control(code)) {
      result += fmt::format("\\u{:04X}", code);
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    for (std::uint64_t word = 0; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
      std::memcpy(&word, text.data(), sizeof word);
      if ((word & 0x8080808080808080U) != 0) break;  // a letter beyond ASCII
    }
    if (text.empty()) break;
    const std::size_t length = character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string escaped(std::string_view text) { return without_controls(text, ""); }

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most * 3 / 4;
  while (end > 0 && !begins_character(text[end])) --end;
  std::size_t rest = text.size() - most / 4;
  while (rest < text.size() && !begins_character(text[rest])) ++rest;
  return fmt::format("{} ... ({} bytes are left out) ... {}", text.substr(0, end), rest - end,
                     text.substr(rest));
}

std::string printable(std::string_view text) { return without_controls(text, "\n\t"); }

}  // namespace linnet
