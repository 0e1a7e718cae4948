// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "ops/pool2d/pool2d.h"

namespace linnet {

/// The part of one window along one axis that lies inside the image: pixels
/// [begin, begin + size), the window's own positions [skip, skip + size).
struct Window {
  std::int64_t begin = 0;
  std::int64_t size = 0;
  std::int64_t skip = 0;
};

constexpr Window window(std::int64_t index, std::int64_t extent, std::int64_t size,
                        std::int64_t stride, std::int64_t pad) {
  const std::int64_t start = index * stride - pad;
  const std::int64_t begin = std::max<std::int64_t>(start, 0);
  return {begin, std::min(start + size, extent) - begin, begin - start};
}

inline Window rows_of(const PoolShape& s, std::int64_t i) {
  return window(i, s.h, s.attrs.size_h, s.attrs.stride_h, s.attrs.pad_top);
}
inline Window columns_of(const PoolShape& s, std::int64_t j) {
  return window(j, s.w, s.attrs.size_w, s.attrs.stride_w, s.attrs.pad_left);
}

}  // namespace linnet
