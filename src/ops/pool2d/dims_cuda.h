// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/pool2d/window.h"

namespace linnet::cuda {

/// A PoolShape for kernels, `c` in packs of channels that a thread takes; Int is 32 bits wide where
/// all of it and its items fit.
template <class Int>
struct PoolDims {
  Int items, h, w, c, oh, ow;
  Int size_h, size_w, stride_h, stride_w, pad_top, pad_left;

  PoolDims(const PoolShape& s, std::int64_t packs, std::int64_t channels)
      : items(static_cast<Int>(packs)),
        h(static_cast<Int>(s.h)),
        w(static_cast<Int>(s.w)),
        c(static_cast<Int>(s.c / channels)),
        oh(static_cast<Int>(s.oh)),
        ow(static_cast<Int>(s.ow)),
        size_h(static_cast<Int>(s.attrs.size_h)),
        size_w(static_cast<Int>(s.attrs.size_w)),
        stride_h(static_cast<Int>(s.attrs.stride_h)),
        stride_w(static_cast<Int>(s.attrs.stride_w)),
        pad_top(static_cast<Int>(s.attrs.pad_top)),
        pad_left(static_cast<Int>(s.attrs.pad_left)) {}

  constexpr WindowOf<Int> rows_of(Int i) const { return window(i, h, size_h, stride_h, pad_top); }
  constexpr WindowOf<Int> columns_of(Int j) const {
    return window(j, w, size_w, stride_w, pad_left);
  }
  constexpr WindowRange<Int> over_row(Int row) const {
    return windows_over(row, oh, size_h, stride_h, pad_top);
  }
  constexpr WindowRange<Int> over_column(Int column) const {
    return windows_over(column, ow, size_w, stride_w, pad_left);
  }
};

/// Returns the channels of a pack: as many as are loaded at once at aligned addresses.
inline std::int64_t pool_pack(const PoolShape& s, bool aligned) {
  return !aligned || s.c % 2 != 0 ? 1 : s.c % 4 != 0 ? 2 : 4;
}

/// Returns the largest number that a kernel of so many items divides or multiplies.
inline std::int64_t largest_index(const PoolShape& s, std::int64_t items) {
  return std::max({items, s.h, s.w, s.attrs.stride_h, s.attrs.stride_w});
}

/// Returns whether windows follow each other without gaps or padding and are small enough that a
/// thread may write all pixels of one; larger ones would leave too few threads.
inline bool windows_apart(const PoolShape& s) {
  const Pool2dAttrs& a = s.attrs;
  return a.stride_h == a.size_h && a.stride_w == a.size_w && a.pad_top == 0 && a.pad_left == 0 &&
         s.oh * a.size_h <= s.h && s.ow * a.size_w <= s.w && a.size_h * a.size_w <= 16;
}

}  // namespace linnet::cuda
