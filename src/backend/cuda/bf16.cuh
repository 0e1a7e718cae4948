// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rounding of matrices to bfloat16, the upper half of an f32.
#include <bit>
#include <cstdint>

#include "backend/cuda/device.cuh"

namespace linnet::cuda {

/// To the nearest, ties to even, as NVIDIA's __float2bfloat16_rn; infinities stay, NaN stays NaN.
constexpr std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

constexpr float from_bf16(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

/// A matrix to be rounded: rows without gaps there, `stride` (a multiple of 4, at least `columns`)
/// elements from row to row here, with zeros in the gap.
struct Bf16Rounding {
  const float* from = nullptr;
  std::uint16_t* to = nullptr;  ///< 8-byte aligned
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;
};

/// Item `item` of rows * stride / 4.
__device__ inline void round_four(const Bf16Rounding& matrix, std::int64_t item) {
  const std::int64_t row = item / (matrix.stride / 4);
  const std::int64_t column = item % (matrix.stride / 4) * 4;
  const float* from = matrix.from + row * matrix.columns + column;
  std::uint32_t words[2] = {};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t half = column + i < matrix.columns ? to_bf16(from[i]) : 0U;
    words[i / 2] |= half << (16 * (i % 2));
  }
  *reinterpret_cast<uint2*>(matrix.to + row * matrix.stride + column) =
      make_uint2(words[0], words[1]);
}

}  // namespace linnet::cuda
