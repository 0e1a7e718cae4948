// SPDX-License-Identifier: Apache-2.0
#include "fuzz/mutation.h"

#include <array>
#include <limits>
#include <vector>

namespace linnet::fuzz {
namespace {

void collect(Json& json, std::vector<Json*>& nodes) {
  nodes.push_back(&json);
  if (!json.is_structured()) return;
  for (Json& child : json) collect(child, nodes);
}

std::int64_t other_number(std::int64_t value, Random& random) {
  using Limits = std::numeric_limits<std::int64_t>;
  const auto wrapped = static_cast<std::uint64_t>(value);
  const std::array<std::int64_t, 14> numbers{static_cast<std::int64_t>(wrapped + 1),
                                             static_cast<std::int64_t>(wrapped - 1),
                                             static_cast<std::int64_t>(wrapped * 2),
                                             value / 2,
                                             0,
                                             1,
                                             2,
                                             3,
                                             -1,
                                             std::int64_t{1} << 31,
                                             std::int64_t{1} << 40,
                                             std::int64_t{1} << 62,
                                             Limits::max(),
                                             Limits::min()};
  return numbers[below(random, numbers.size())];
}

void change_list(Json& json, Random& random) {
  const std::size_t at = below(random, json.size());
  const std::size_t other = below(random, json.size());
  switch (below(random, 3)) {
    case 0: json.erase(at); break;
    case 1: json.insert(json.begin() + static_cast<std::ptrdiff_t>(at), Json(json[other])); break;
    default: std::swap(json[at], json[other]);
  }
}

}  // namespace

void change(Json& tree, Random& random) {
  std::vector<Json*> nodes;
  collect(tree, nodes);
  Json& chosen = *nodes[below(random, nodes.size())];
  const Json other = *nodes[below(random, nodes.size())];
  if (below(random, 24) == 0) {
    chosen = other;
  } else if (chosen.is_boolean()) {
    chosen = !chosen.get<bool>();
  } else if (chosen.is_number_integer()) {
    chosen = other_number(chosen.get<std::int64_t>(), random);
  } else if (chosen.is_number()) {
    const std::array<double, 7> numbers{0, 1, -1, 0.5, 1e-300, 1e30, 1e308};
    chosen = numbers[below(random, numbers.size())];
  } else if (chosen.is_string()) {
    // Of the same tree, so that operands and operators are known ones mostly.
    for (int tries = 0; tries < 8; ++tries) {
      const Json& name = *nodes[below(random, nodes.size())];
      if (name.is_string() && name != chosen) {
        const Json copy = name;
        chosen = copy;
        break;
      }
    }
  } else if (chosen.is_array() && !chosen.empty()) {
    change_list(chosen, random);
  } else if (chosen.is_object() && !chosen.empty() && below(random, 4) == 0) {
    chosen.erase(
        std::next(chosen.begin(), static_cast<std::ptrdiff_t>(below(random, chosen.size()))));
  }
}

}  // namespace linnet::fuzz
