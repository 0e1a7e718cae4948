// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/layers/settings.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"

namespace linnet {

/// Padding resolved to numbers.
struct Sides {
  std::int64_t top = 0;
  std::int64_t bottom = 0;
  std::int64_t left = 0;
  std::int64_t right = 0;
};

/// Resolves padding for images (N, H, W, C) under a sliding window.
inline Sides resolve(const Padding2d& padding, const Shape& x, Size2d window, Size2d stride,
                     Size2d dilation = 1) {
  if (padding.mode == Padding2d::Mode::valid) return {};
  if (padding.mode == Padding2d::Mode::fixed) {
    return {padding.top, padding.bottom, padding.left, padding.right};
  }
  const auto total = [](std::int64_t in, std::int64_t size, std::int64_t step,
                        std::int64_t spread) {
    const std::int64_t out = (in + step - 1) / step;
    return std::max<std::int64_t>((out - 1) * step + (size - 1) * spread + 1 - in, 0);
  };
  const std::int64_t rows = total(x[1], window.height, stride.height, dilation.height);
  const std::int64_t columns = total(x[2], window.width, stride.width, dilation.width);
  return {rows / 2, rows - rows / 2, columns / 2, columns - columns / 2};
}

inline void require_images(std::string_view kind, const std::string& layer, const Shape& x) {
  require(x.rank() == 4, "[{} '{}'] expected images (N, H, W, C); got {}", kind, layer,
          to_string(x));
}

}  // namespace linnet
