// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace linnet::cpu {

/// e^x for x <= 0, without a branch or a call, so that loops over it become vector instructions.
/// At most 2 units in the last place off; 0 below -87.3; NaN stays NaN.
/// (Cody and Waite's two-step reduction by ln 2, then a polynomial on [-ln2/2, ln2/2].)
inline float exp_nonpositive(float x) {
  constexpr float kSmallest = -87.3F;
  const float clamped = x < kSmallest ? kSmallest : x;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const float shifted = clamped * 1.44269504F + kRound;
  const float n = shifted - kRound;
  const float r = (clamped - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.9875691e-4F;
  p = p * r + 1.3981999e-3F;
  p = p * r + 8.3334519e-3F;
  p = p * r + 4.1665796e-2F;
  p = p * r + 1.6666665e-1F;
  p = p * r + 5.0000001e-1F;
  p = p * r * r + r + 1.0F;
  const std::int32_t exponent = (std::bit_cast<std::int32_t>(shifted) - 0x4B400000 + 127) << 23;
  const float result = p * std::bit_cast<float>(exponent);
  // A NaN's exponent is nonsense, but its polynomial is a NaN and stays one.
  return x < kSmallest ? 0.0F : result;
}

}  // namespace linnet::cpu
