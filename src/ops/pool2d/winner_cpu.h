// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/pool2d/winner.h"

namespace linnet::cpu {

/// Lets a pixel at `position` compete with the best ones so far, channel by channel: wins().
template <class Winner>
void compete(const float* pixel, std::int64_t channels, Winner position, float* best,
             Winner* winner) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const bool better = wins(pixel[c], best[c]);
    best[c] = better ? pixel[c] : best[c];
    winner[c] = better ? position : winner[c];
  }
}

}  // namespace linnet::cpu
