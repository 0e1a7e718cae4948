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
  constexpr std::uint32_t kExponent = 0x7C00U << 13U;
  std::uint32_t magnitude = (bits & 0x7FFFU) << 13U;
  const std::uint32_t exponent = magnitude & kExponent;
  magnitude += (127U - 15U) << 23U;
  if (exponent == kExponent) magnitude += (128U - 16U) << 23U;  // infinity and NaN
  if (exponent == 0) {
    // A subnormal number: its fraction under the exponent of the smallest normal one, less that.
    const float shifted = std::bit_cast<float>(magnitude + (1U << 23U)) - 0x1p-14F;
    magnitude = std::bit_cast<std::uint32_t>(shifted);
  }
  return std::bit_cast<float>(magnitude | ((bits & 0x8000U) << 16U));
}

/// To nearest, ties to even; what is too large becomes infinite, NaN stays NaN.
inline std::uint16_t f16_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 16U & 0x8000U;
  std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude >= 0x47800000U) {  // 65536
    magnitude = magnitude > 0x7F800000U ? 0x7E00U : 0x7C00U;
  } else if (magnitude < 0x38800000U) {  // 2^-14: the sum's last place is the result's, 2^-24
    magnitude = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3F000000U;
  } else {
    magnitude = (magnitude - ((127U - 15U) << 23U) + 0xFFFU + (magnitude >> 13U & 1U)) >> 13U;
  }
  return static_cast<std::uint16_t>(sign | magnitude);
}

/// Returns the float that a double lies on, or of the two around it the odd one: rounded again to a
/// type of fewer digits, it gives what one rounding of x would.
inline float odd_float_of(double x) {
  const auto nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x || std::isnan(x)) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(x)) --bits;  // towards zero
  return std::bit_cast<float>(bits | 1U);
}

/// Does the same for integers.
inline float odd_float_of(std::int64_t x) {
  const std::uint64_t magnitude =
      x < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
  if (magnitude >> 53U == 0) return odd_float_of(static_cast<double>(x));
  // What is cut off is remembered in the last bit: 53 bits fit into a double.
  const std::uint64_t odd =
      (magnitude >> 11U) | static_cast<std::uint64_t>((magnitude & 0x7FFU) != 0);
  const double wide = static_cast<double>(odd) * 2048.0;
  return odd_float_of(x < 0 ? -wide : wide);
}

}  // namespace linnet
