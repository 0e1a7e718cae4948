// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <cmath>
#include <numbers>

namespace linnet {

std::array<float, 2> normal_pair(std::uint32_t first, std::uint32_t second) {
  // (word + 0.5) / 2^32 is never 0, so the logarithm is finite.
  const double u = (static_cast<double>(first) + 0.5) * 0x1p-32;
  const double angle = 2.0 * std::numbers::pi * static_cast<double>(second) * 0x1p-32;
  const double radius = std::sqrt(-2.0 * std::log(u));
  return {static_cast<float>(radius * std::cos(angle)),
          static_cast<float>(radius * std::sin(angle))};
}

}  // namespace linnet
