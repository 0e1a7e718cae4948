// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet::cpu {

// The transforms of Winograd's minimal filtering F(m x m, 3x3) (Lavin and Gray, 2016) for a `side`
// m of 2 or 4: 16 or 36 products a channel give 2x2 or 4x4 outputs of a 3x3 kernel, instead of 36
// or 144. A tile reads (m + 2) x (m + 2) pixels, and has as many points. Vectors run over channels,
// at least kWinogradChannels of them.

inline constexpr std::int64_t kWinogradChannels = 16;
constexpr std::int64_t winograd_points(std::int64_t side) { return (side + 2) * (side + 2); }
inline constexpr std::int64_t kMostWinogradPoints = winograd_points(4);

/// Computes out[p] = (Bᵀ d B)[p]: d are the addresses of a tile's pixels of `channels`; point p of
/// the transform goes to out + p * stride. Fetches `next`, those of the tile that follows.
void winograd_input(std::int64_t side, const float* const* d, const float* const* next,
                    std::int64_t channels, float* out, std::int64_t stride);

/// What follows Aᵀ m A in registers: a bias, unless null, and max(x, 0).
struct WinogradTail {
  const float* bias = nullptr;
  bool relu = false;
};

/// Computes y = tail(Aᵀ m A): point p of m lies at m + p * stride; y are the addresses of m x m
/// pixels, null where there is none. Fetches `next`, those of the tile that follows, none null.
void winograd_output(std::int64_t side, const float* m, std::int64_t stride, std::int64_t channels,
                     const WinogradTail& tail, float* const* y, float* const* next);

/// Computes out[p] = (A dy Aᵀ)[p], the transpose of winograd_output(): dy are the addresses of m x
/// m pixels.
void winograd_output_transposed(std::int64_t side, const float* const* dy, std::int64_t channels,
                                float* out, std::int64_t stride);

/// Computes out[p] = (G g Gᵀ)[p]: g are the addresses of 3x3 taps.
void winograd_weights(std::int64_t side, const float* const* g, std::int64_t channels, float* out,
                      std::int64_t stride);

/// Computes dg = Gᵀ u G, the transpose of winograd_weights(): point p of u lies at u + p * stride;
/// dg are the addresses of 3x3 taps.
void winograd_weights_transposed(std::int64_t side, const float* u, std::int64_t stride,
                                 std::int64_t channels, float* const* dg);

}  // namespace linnet::cpu
