// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace linnet::cpu {

// Products of unsigned bytes (activations) and signed bytes (weights), summed in i32 without
// overflow or saturation: the same sums on every processor. Terms are taken by four.

/// The instructions by which they are computed.
enum class Int8Unit : std::uint8_t {
  avx512_vnni,  ///< VPDPBUSD, 16 sums at once
  avx_vnni,     ///< the same, 8 sums
  avx2,         ///< VPMADDWD on bytes that are widened to 16 bits
  neon_i8mm,    ///< USDOT of ARMv8.6, 4 sums at once
  neon_dot,     ///< SDOT of ARMv8.2
  plain,        ///< C++
};
std::string_view to_string(Int8Unit unit);
/// Returns what this processor has, the fastest first; the last is `plain`.
const std::vector<Int8Unit>& int8_units();

/// The columns of one panel.
inline constexpr std::int64_t kInt8Panel = 32;

/// Groups of four terms that a segment of so many takes; weights of what is missing are zeros.
constexpr std::int64_t int8_groups(std::int64_t length) { return (length + 3) / 4; }

/// Rows of a left operand where they lie: `segments` parts of `length` bytes, `stride` apart. Up to
/// 3 bytes after each part are read.
struct Int8Rows {
  const std::uint8_t* const* rows = nullptr;
  std::int64_t segments = 1;
  std::int64_t length = 0;
  std::int64_t stride = 0;

  std::int64_t groups() const { return segments * int8_groups(length); }
};

/// Bytes on a line of whole numbers: x = scale (byte - zero).
struct Int8Levels {
  float scale = 1;
  std::int32_t zero = 0;
};

/// What follows a column's sum: y = relu?(factor sum + bias + residual), to f32, or rounded to
/// levels. Arrays begin with the first column of the product; their rows are `stride` apart.
struct Int8Tail {
  const std::int32_t* start = nullptr;  ///< what each sum begins with
  const float* factor = nullptr;
  const float* bias = nullptr;
  const float* residual = nullptr;                ///< null: none of f32
  const std::uint8_t* residual_levels = nullptr;  ///< null: none of levels
  Int8Levels residual_scale = {};
  bool relu = false;
  float* y = nullptr;              ///< null: to levels
  std::uint8_t* levels = nullptr;  ///< null: to f32
  Int8Levels scale = {};           ///< of `levels`
  std::int64_t stride = 0;
};

/// Bytes of the panels of `columns` columns.
std::size_t int8_panel_bytes(std::int64_t groups, std::int64_t columns);

/// Writes group `group`, `terms` bytes (1 to 4), of column `column` to panels.
void pack_int8(const std::int8_t* weights, std::int64_t terms, std::int64_t group,
               std::int64_t column, std::int64_t groups, std::int64_t columns, std::int8_t* panels);

/// Multiplies `rows` rows by `columns` packed columns and finishes each sum.
void int8_product(Int8Unit unit, const Int8Rows& a, std::int64_t rows, const std::int8_t* panels,
                  std::int64_t columns, const Int8Tail& tail);

/// Rounds x to levels: clamp(round(x / scale) + zero, 0, 255), NaN to 0.
void to_levels(const float* x, std::int64_t count, Int8Levels scale, std::uint8_t* levels);

}  // namespace linnet::cpu
