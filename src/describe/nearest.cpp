// SPDX-License-Identifier: Apache-2.0
#include "describe/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"

namespace linnet {
namespace {

constexpr std::size_t kLongest = 100;     // of names that are compared
constexpr std::size_t kMostBytes = 1000;  // of a list in a sentence
constexpr std::size_t kMostOfName = 200;

/// Returns as many names as a sentence has room for.
std::vector<std::string> first_of(const std::vector<std::string>& names, std::size_t most) {
  std::vector<std::string> first;
  std::size_t bytes = 0;
  for (const std::string& name : names) {
    std::string shown = shortened(name, kMostOfName);
    bytes += shown.size() + 2;
    if (!first.empty() && (first.size() == most || bytes > kMostBytes)) break;
    first.push_back(std::move(shown));
  }
  return first;
}

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
  if (given.size() > kLongest) return best;
  const std::string lower = lower_ascii(given);
  for (const std::string& name : names) {
    if (name.size() > kLongest) continue;
    const std::size_t distance = edit_distance(lower, lower_ascii(name));
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

std::string did_you_mean(std::string_view given, const std::vector<std::string>& names,
                         std::string_view otherwise) {
  std::string meant = did_you_mean(given, names);
  return meant.empty() ? fmt::format("; {} {}", otherwise, listed(names)) : meant;
}

std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return "nothing";
  std::vector<std::string> first = first_of(names, names.size());
  std::string last = names.size() > first.size()
                         ? fmt::format("one of {} more", names.size() - first.size())
                         : std::move(first.back());
  if (names.size() == first.size()) first.pop_back();
  if (first.empty()) return last;
  return fmt::format("{} or {}", fmt::join(first, ", "), last);
}

std::string some_of(const std::vector<std::string>& names, std::size_t most) {
  const std::vector<std::string> first = first_of(names, most);
  const std::size_t more = names.size() - first.size();
  return fmt::format("{}{}", fmt::join(first, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string quoted(const std::vector<std::string>& names, std::size_t most) {
  std::vector<std::string> all;
  for (const std::string& name : names) all.push_back(fmt::format("'{}'", name));
  return some_of(all, most);
}

}  // namespace linnet
