// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet::cpu {

// The transforms of Winograd's minimal filtering F(2x2, 3x3) (Lavin and Gray, 2016): 16 products a
// channel give 2x2 outputs of a 3x3 kernel, instead of 36. Vectors run over channels, at least
// kWinogradChannels of them.

inline constexpr std::int64_t kWinogradChannels = 16;
inline constexpr int kWinogradPoints = 16;

/// Computes out[p] = (Bᵀ d B)[p]: d are the addresses of 4x4 pixels of `channels`; point p of the
/// transform goes to out + p * stride.
void winograd_input(const float* const* d, std::int64_t channels, float* out, std::int64_t stride);

/// Computes y = Aᵀ m A: point p of m lies at m + p * stride; y are the addresses of 2x2 pixels,
/// null where there is none.
void winograd_output(const float* m, std::int64_t stride, std::int64_t channels, float* const* y);

/// Computes out[p] = (A dy Aᵀ)[p], the transpose of winograd_output(): dy are the addresses of 2x2
/// pixels.
void winograd_output_transposed(const float* const* dy, std::int64_t channels, float* out,
                                std::int64_t stride);

/// Computes out[p] = (G g Gᵀ)[p]: g are the addresses of 3x3 taps.
void winograd_weights(const float* const* g, std::int64_t channels, float* out,
                      std::int64_t stride);

/// Computes dg = Gᵀ u G, the transpose of winograd_weights(): point p of u lies at u + p * stride;
/// dg are the addresses of 3x3 taps.
void winograd_weights_transposed(const float* u, std::int64_t stride, std::int64_t channels,
                                 float* const* dg);

}  // namespace linnet::cpu
