// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace linnet {

/// Returns the values' texts, `between` between them: fmt::join() of floating-point numbers, of
/// whose code, inlined from fmt 9, GCC 13 warns (-Warray-bounds).
template <class Values>
std::string join(const Values& values, std::string_view between) {
  std::string text;
  bool first = true;
  for (const auto& value : values) {
    text += fmt::format("{}{}", first ? "" : between, value);
    first = false;
  }
  return text;
}

}  // namespace linnet
