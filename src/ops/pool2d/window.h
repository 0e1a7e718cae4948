// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/pool2d/pool2d.h"

namespace linnet {

// Constexpr, and for any signed integer type: CUDA kernels call them in 32 bits where those do.

/// The part of one window along one axis that lies inside the image: pixels
/// [begin, begin + size), the window's own positions [skip, skip + size).
template <class Int>
struct WindowOf {
  Int begin = 0;
  Int size = 0;
  Int skip = 0;
};
using Window = WindowOf<std::int64_t>;

template <class Int>
constexpr WindowOf<Int> window(Int index, Int dim, Int size, Int stride, Int pad) {
  const Int start = index * stride - pad;
  const Int begin = std::max<Int>(start, 0);
  return {begin, std::min<Int>(start + size, dim) - begin, begin - start};
}

inline Window rows_of(const PoolShape& s, std::int64_t i) {
  return window(i, s.h, s.attrs.size_h, s.attrs.stride_h, s.attrs.pad_top);
}
inline Window columns_of(const PoolShape& s, std::int64_t j) {
  return window(j, s.w, s.attrs.size_w, s.attrs.stride_w, s.attrs.pad_left);
}

/// Windows [begin, end) along one axis.
template <class Int>
struct WindowRange {
  Int begin = 0;
  Int end = 0;
};

/// Returns those of `windows` that hold the pixel at `index`.
template <class Int>
constexpr WindowRange<Int> windows_over(Int index, Int windows, Int size, Int stride, Int pad) {
  const Int place = index + pad;  // the last window that can hold it starts there
  const Int before = place - size;
  return {before < 0 ? 0 : before / stride + 1, std::min<Int>(place / stride + 1, windows)};
}

/// The same without divisions for one pixel after the other, from {} at pixel 0 on: `range` is that
/// of the pixel before.
template <class Int>
constexpr void advance(WindowRange<Int>& range, Int index, Int windows, Int size, Int stride,
                       Int pad) {
  const Int place = index + pad;
  while (range.end < windows && range.end * stride <= place) ++range.end;
  while (range.begin < range.end && range.begin * stride + size <= place) ++range.begin;
}

}  // namespace linnet
