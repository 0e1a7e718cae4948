// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace linnet {

/// 95 % of a standard normal distribution lie between -kNormal95 and kNormal95.
inline constexpr double kNormal95 = 1.959963984540054;

/// Returns the value below which that share of the values lies, linear between neighbours, as
/// NumPy's percentile does. The values are in order, at least one.
template <class T>
double percentile(const std::vector<T>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double rest = place - static_cast<double>(below);
  return (1 - rest) * sorted[below] + rest * sorted[above];
}

}  // namespace linnet
