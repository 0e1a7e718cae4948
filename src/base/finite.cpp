// SPDX-License-Identifier: Apache-2.0
#include "base/finite.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace linnet {
namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::uint32_t kMagnitude = 0x7FFFFFFF;
constexpr std::uint32_t kInfinity = 0x7F800000;

/// By the largest magnitude's bits, which vector instructions find.
bool block_is_finite(std::span<const float> block) {
  std::uint32_t most = 0;
  for (const float value : block) {
    most = std::max(most, std::bit_cast<std::uint32_t>(value) & kMagnitude);
  }
  return most < kInfinity;
}

}  // namespace

std::size_t first_not_finite(std::span<const float> values) {
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    const auto block = values.subspan(begin, std::min(kBlock, values.size() - begin));
    if (block_is_finite(block)) continue;
    const auto bad = std::ranges::find_if(block, [](float v) { return !std::isfinite(v); });
    return begin + static_cast<std::size_t>(bad - block.begin());
  }
  return values.size();
}

std::size_t first_not_finite(std::span<const double> values) {
  const auto bad = std::ranges::find_if(values, [](double v) { return !std::isfinite(v); });
  return static_cast<std::size_t>(bad - values.begin());
}

bool is_count(double value) {
  constexpr double kMost = 9007199254740992;  // 2^53
  return value >= 0 && value <= kMost && value == std::floor(value);
}

}  // namespace linnet
