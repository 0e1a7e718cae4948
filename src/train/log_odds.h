// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace linnet {

/// Logits (N, classes) become log(p / (1 - p)) of their softmax p: in p's order, and fine at both
/// ends of [0, 1].
inline void to_log_odds(std::span<float> logits, std::size_t classes) {
  std::vector<double> z(classes);
  for (std::size_t first = 0; first < logits.size(); first += classes) {
    const std::span<float> row = logits.subspan(first, classes);
    std::ranges::copy(row, z.begin());
    for (std::size_t c = 0; c < classes; ++c) {
      double largest = -std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k < classes; ++k) {
        if (k != c) largest = std::max(largest, z[k]);
      }
      double others = 0;
      for (std::size_t k = 0; k < classes; ++k) others += k == c ? 0 : std::exp(z[k] - largest);
      row[c] = static_cast<float>(z[c] - largest - std::log(others));
    }
  }
}

/// The probability of log odds.
inline float probability_of(float log_odds) {
  return static_cast<float>(1 / (1 + std::exp(-static_cast<double>(log_odds))));
}

}  // namespace linnet
