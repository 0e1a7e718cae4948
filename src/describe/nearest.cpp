// SPDX-License-Identifier: Apache-2.0
#include "describe/nearest.h"

#include <fmt/format.h>

#include <algorithm>

namespace linnet {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view given, const std::vector<std::string>& names) {
  std::string best;
  std::size_t best_distance = given.size() / 3 + 2;  // beyond it a guess only confuses
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(given, name);
    if (distance < best_distance && distance < name.size()) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& names) {
  const std::string name = nearest(given, names);
  return name.empty() ? std::string() : fmt::format("; did you mean '{}'?", name);
}

std::string listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? std::string("nothing") : names.front();
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

}  // namespace linnet
