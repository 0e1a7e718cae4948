// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace linnet {

/// Returns whether a pixel takes the place of the best of those before it: NaN wins, the first of
/// equal ones stays.
constexpr bool wins(float pixel, float best) {
  return pixel > best || (pixel != pixel && best == best);
}

}  // namespace linnet
