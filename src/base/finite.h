// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace linnet {

/// Returns the index of the first NaN or infinity; the size where there is none.
std::size_t first_not_finite(std::span<const float> values);

std::size_t first_not_finite(std::span<const double> values);

inline bool all_finite(std::span<const float> values) {
  return first_not_finite(values) == values.size();
}

/// Returns whether a number that a file holds is a count: a whole one from 0 to 2^53.
bool is_count(double value);

}  // namespace linnet
