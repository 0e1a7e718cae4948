// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace linnet {

/// Returns the index of the first NaN or infinity; the size where there is none.
std::size_t first_not_finite(std::span<const float> values);

inline bool all_finite(std::span<const float> values) {
  return first_not_finite(values) == values.size();
}

}  // namespace linnet
