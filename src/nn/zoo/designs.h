// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "describe/nearest.h"

namespace linnet::zoo {

/// Returns the row of a family's table with this name. Throws Error for an unknown one, with all
/// names or the nearest one.
template <class Design>
const Design& design_named(std::string_view family, std::span<const Design> designs,
                           std::string_view name) {
  const auto found = std::ranges::find(designs, name, &Design::name);
  if (found != designs.end()) return *found;
  std::vector<std::string> names;
  for (const Design& design : designs) names.emplace_back(design.name);
  fail("unknown {} '{}'{}", family, name, did_you_mean(name, names, "expected"));
}

}  // namespace linnet::zoo
