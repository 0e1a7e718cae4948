// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/recurrent/recurrent_cpu.h"

namespace linnet::cpu {

/// Samples that go through the steps side by side: the more, the less often w_hh is read.
inline std::int64_t block_rows(const RecurrentShape& s) {
  const auto rows = std::clamp<std::int64_t>(s.units / 16 / 4 * 4, 8, 32);
  return std::clamp<std::int64_t>(s.n, 1, rows);
}

/// Steps of `samples`, at least one, that are multiplied by w_ih at once, or whose slopes are: what
/// they read and write stays in the cache for the cell.
inline std::int64_t chunk_steps(const RecurrentShape& s, std::int64_t samples) {
  constexpr std::int64_t kRows = 128;
  return std::clamp<std::int64_t>(kRows / samples, 1, s.steps);
}
/// Those of a block.
inline std::int64_t chunk_steps(const RecurrentShape& s) { return chunk_steps(s, block_rows(s)); }

/// Returns the first in x's order of the steps that are taken from the `begin`th to the `end`th.
inline std::int64_t first_step(const RecurrentShape& s, std::int64_t begin, std::int64_t end) {
  return std::min(s.step(begin), s.step(end - 1));
}

/// Returns the places of steps from `first` on of an array (N, T, width) that begins at `data`.
template <class T>
StepPlaces<T> places(const RecurrentShape& s, T* data, std::int64_t width, std::int64_t first) {
  return {data + first * width, s.steps * width, width};
}

}  // namespace linnet::cpu
