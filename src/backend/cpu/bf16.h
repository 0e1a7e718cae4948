// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace linnet::cpu {

/// Says how the CPU's matrix products and convolutions are computed. Sums are f32 in all of them.
enum class Products : std::uint8_t {
  fp32,
  /// Operands rounded to bfloat16 and kept as f32, the kernels of fp32: on every processor.
  bf16_rounded,
  /// Operands in bfloat16, kernels for it, own or oneDNN's; where there are none, as bf16_rounded.
  bf16_native,
};

/// The widest bfloat16 arithmetic that oneDNN finds on this processor.
enum class Bf16Unit : std::uint8_t { none, avx512_bf16, amx };
Bf16Unit bf16_unit();

/// Returns what bf16 means on this processor: bf16_native where there is a unit for it.
Products bf16_products();

/// Returns text such as "operands rounded, fp32 arithmetic", "AVX512_BF16" or "AMX".
std::string_view to_string(Bf16Unit unit);

/// Computes to[i] = from[i] rounded to bfloat16, the upper half of an f32: to the nearest, ties to
/// even; what lies beyond the largest becomes infinite, NaN stays NaN, zeros keep their sign.
void round_to_bf16(const float* from, std::int64_t count, float* to);
/// The same as bfloat16s.
void round_to_bf16(const float* from, std::int64_t count, std::uint16_t* to);

}  // namespace linnet::cpu
