// SPDX-License-Identifier: Apache-2.0
#include "config/duration.h"

#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace linnet::command {
namespace {

constexpr double kLongest = 1e9;  // 31 years
constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
    {{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}}};

}  // namespace

std::optional<double> seconds_of(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  if (error != std::errc() || !(number > 0)) return {};
  for (const auto& [name, seconds] : kUnits) {
    if (unit == name && number * seconds <= kLongest) return number * seconds;
  }
  return {};
}

}  // namespace linnet::command
