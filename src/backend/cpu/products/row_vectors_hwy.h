// SPDX-License-Identifier: Apache-2.0
// Included once per instruction set, after hwy/foreach_target.h, by sources that Highway compiles
// so: what #pragma once would prevent.
#if defined(LINNET_ROW_VECTORS_HWY_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LINNET_ROW_VECTORS_HWY_H
#undef LINNET_ROW_VECTORS_HWY_H
#else
#define LINNET_ROW_VECTORS_HWY_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls f(d, c) for the vectors of a row, c their first column: whole ones, then the rest of the
/// columns one by one.
template <class F>
HWY_INLINE void for_vectors(std::int64_t columns, F&& f) {
  const hn::ScalableTag<float> vector;
  const hn::CappedTag<float, 1> one;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(vector));
  std::int64_t c = 0;
  for (; c + lanes <= columns; c += lanes) f(vector, c);
  for (; c < columns; ++c) f(one, c);
}

/// A number of rows that is known when compiling.
template <int kCount>
struct RowCount {
  static constexpr int value = kCount;
};

/// Calls f(RowCount, r) for rows [0, rows): for groups of kGroup from row r on, then one by one.
/// Short rows alone are grouped: long ones side by side are streams that memory serves at half the
/// speed, and slower still where they lie 4 KiB apart.
template <int kGroup, class F>
HWY_INLINE void for_row_groups(std::int64_t rows, std::int64_t columns, F&& f) {
  constexpr std::int64_t kShort = 64;
  std::int64_t r = 0;
  if constexpr (kGroup > 1) {
    for (; columns < kShort && r + kGroup <= rows; r += kGroup) f(RowCount<kGroup>{}, r);
  }
  for (; r < rows; ++r) f(RowCount<1>{}, r);
}

/// Returns how many rows after the one that is read should be fetched: memory serves a loop over
/// rows at two thirds of the speed or less otherwise.
inline std::int64_t rows_ahead(std::int64_t columns) {
  constexpr std::int64_t kFloats = 4096;
  return std::clamp<std::int64_t>(kFloats / std::max<std::int64_t>(columns, 1), 4, 16);
}

/// f(first) + ... + f(first + kCount - 1), added pair by pair.
template <int kCount, class F>
HWY_INLINE auto sum_of(F&& f, int first = 0) {
  if constexpr (kCount == 1) {
    return f(first);
  } else {
    return hn::Add(sum_of<kCount / 2>(f, first),
                   sum_of<kCount - kCount / 2>(f, first + kCount / 2));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#endif
