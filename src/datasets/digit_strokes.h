// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace linnet {

/// A point of a digit's unit box: x to the right, y downwards, both in [0, 1].
struct StrokePoint {
  float x = 0;
  float y = 0;
};

/// A line drawn without lifting the pen, as the corners of a polyline.
using Stroke = std::vector<StrokePoint>;

/// Returns the ways in which one digit (0 to 9) is commonly written; never empty.
const std::vector<std::vector<Stroke>>& digit_forms(int digit);

}  // namespace linnet
