// SPDX-License-Identifier: Apache-2.0
#include "base/shell_word.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace linnet {

std::string shell_word(const std::string& argument) {
  const bool plain = !argument.empty() && std::ranges::all_of(argument, [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view("_-./,:+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return argument;
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace linnet
