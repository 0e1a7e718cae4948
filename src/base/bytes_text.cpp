// SPDX-License-Identifier: Apache-2.0
#include "base/bytes_text.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace linnet {

std::string bytes_text(std::size_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace linnet
