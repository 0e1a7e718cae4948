// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet::cpu {

/// Lets a pixel at `position` compete with the best ones so far, channel by channel; NaN wins, the
/// first of equal ones stays.
template <class Winner>
void compete(const float* pixel, std::int64_t channels, Winner position, float* best,
             Winner* winner) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const bool wins = pixel[c] > best[c] || (pixel[c] != pixel[c] && best[c] == best[c]);
    best[c] = wins ? pixel[c] : best[c];
    winner[c] = wins ? position : winner[c];
  }
}

}  // namespace linnet::cpu
