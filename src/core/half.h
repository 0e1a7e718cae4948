// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

// IEEE 754 binary16 and bfloat16, which C++20 has no types for, as their bits.
namespace linnet {

inline float float_of_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

/// To nearest, ties to even; NaN stays NaN.
inline std::uint16_t bf16_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (std::isnan(x)) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

inline float float_of_f16(std::uint16_t bits) {
  const int exponent = (bits >> 10U) & 31;
  const auto fraction = static_cast<float>(bits & 1023U);
  float magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else {
    magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  }
  return std::copysign(magnitude, (bits & 0x8000U) != 0 ? -1.0F : 1.0F);
}

/// To nearest, ties to even; what is too large becomes infinite.
inline std::uint16_t f16_of(float x) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000U : 0U);
  const float magnitude = std::fabs(x);
  if (std::isnan(x)) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (magnitude >= 65520) return static_cast<std::uint16_t>(sign | 0x7C00U);
  // The unit in the last place: 2^-24 of subnormals, else 2^(exponent - 10).
  const int exponent = magnitude < 0x1p-14F ? -14 : std::ilogb(magnitude);
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // Of a normal number the units begin with 1024, which the exponent's field counts as one.
  const auto field = magnitude < 0x1p-14F ? 0U : static_cast<std::uint32_t>(exponent + 14) << 10U;
  return static_cast<std::uint16_t>(sign | (field + units));
}

}  // namespace linnet
