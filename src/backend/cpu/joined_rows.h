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

/// A row that all rows meet, repeated for each of the joined ones.
class RepeatedRow {
 public:
  RepeatedRow(const float* row, std::int64_t columns, std::int64_t joined) {
    for (std::int64_t i = 0; i < joined; ++i)
      std::copy_n(row, columns, values_.data() + i * columns);
  }
  operator const float*() const { return values_.data(); }

 private:
  std::array<float, kMostJoined> values_;
};

/// Calls f(first row, rows, columns) for the joined rows, and for the rest of them as one row.
template <class F>
void for_joined_rows(std::int64_t rows, std::int64_t columns, std::int64_t joined, F f) {
  f(std::int64_t{0}, rows / joined, joined * columns);
  const std::int64_t rest = rows % joined;
  if (rest > 0) f(rows - rest, std::int64_t{1}, rest * columns);
}

/// Calls f(first row, rows, columns, b) for rows that follow each other in memory and meet the row
/// b: as they are, or joined.
template <class F>
void with_joined_rows(std::int64_t rows, std::int64_t columns, const float* b, F f) {
  const std::int64_t joined = joined_rows(rows, columns);
  if (joined == 1) return f(std::int64_t{0}, rows, columns, b);
  const RepeatedRow wide(b, columns, joined);
  for_joined_rows(rows, columns, joined,
                  [&](std::int64_t first, std::int64_t many, std::int64_t width) {
                    f(first, many, width, wide);
                  });
}

}  // namespace linnet::cpu
