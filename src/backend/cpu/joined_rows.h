// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace linnet::cpu {

// Rows of few channels leave lanes of vectors empty. Neighbouring rows are joined until they fill
// whole vectors; the joined row repeats the bias.

/// The most floats of rows that are joined.
inline constexpr std::int64_t kMostJoined = 1024;

/// Returns how many neighbouring rows are joined: 1 where that spares nothing.
inline std::int64_t joined_rows(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kVector = 16;
  if (columns < 1 || columns * kVector > kMostJoined) return 1;
  const std::int64_t joined = kVector / std::gcd(columns, kVector);
  return rows >= 2 * joined ? joined : 1;
}

/// Calls f(first row, rows, columns, b) for rows that follow each other in memory and meet the row
/// b: as they are, or joined.
template <class F>
void with_joined_rows(std::int64_t rows, std::int64_t columns, const float* b, F f) {
  const std::int64_t joined = joined_rows(rows, columns);
  if (joined == 1) return f(std::int64_t{0}, rows, columns, b);
  std::array<float, kMostJoined> wide;
  for (std::int64_t i = 0; i < joined; ++i) std::copy_n(b, columns, wide.data() + i * columns);
  f(std::int64_t{0}, rows / joined, joined * columns, wide.data());
  const std::int64_t rest = rows % joined;
  if (rest > 0) f(rows - rest, std::int64_t{1}, rest * columns, wide.data());
}

}  // namespace linnet::cpu
