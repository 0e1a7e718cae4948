// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "backend/cpu/kernel.h"

namespace linnet::cpu {

/// Nanoseconds of one core for an element that is only moved.
inline constexpr double kMoveCost = 0.25;

inline void copy_floats(const float* from, float* to, std::int64_t count) {
  if (count > 0) std::memcpy(to, from, sizeof(float) * static_cast<std::size_t>(count));
}

/// Calls piece(row, begin, end) for the rows of `size` elements that `range` covers, in order; the
/// first and the last may be covered in part only.
template <class Piece>
void for_row_pieces(Range range, std::int64_t size, Piece piece) {
  if (range.size() <= 0) return;
  std::int64_t row = range.begin / size;
  std::int64_t begin = range.begin - row * size;
  for (std::int64_t left = range.size(); left > 0; ++row, begin = 0) {
    const std::int64_t end = std::min(size, begin + left);
    piece(row, begin, end);
    left -= end - begin;
  }
}

/// Returns a kernel over `rows` rows of `size` elements of output 0, cut anywhere into equal tasks:
/// piece(args, row, begin, end) writes [begin, end) of one row.
template <class Piece>
Kernel for_rows(std::int64_t rows, std::int64_t size, double cost_each, Piece piece) {
  return one_stage(rows * size, cost_each, [=](const Args& args, Range range) {
    for_row_pieces(range, size,
                   [&](auto row, auto begin, auto end) { piece(args, row, begin, end); });
  });
}

}  // namespace linnet::cpu
