// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/group_norm/group_norm.h"

namespace linnet::cpu {

// Loops of normalisation. Where a row has one pixel, its groups are neighbouring floats, and rows
// follow each other; else vectors run over the channels of (pixels, channels).

/// Rows of one pixel: y, mean and inv_std.
void norm_rows(const GroupNormShape& s, double epsilon, std::int64_t rows, const float* x,
               const float* weight, const float* bias, float* y, float* mean, float* inv_std);
/// Rows of one pixel: dx, unless it is null, and what is added to the sums of dweight and dbias.
void norm_rows_gradient(const GroupNormShape& s, std::int64_t rows, const float* dy, const float* x,
                        const float* weight, const float* mean, const float* inv_std, float* dx,
                        float* weight_sums, float* bias_sums);

/// sums[c] = the sum over pixels of x - means[c], or of its square.
void channel_sums(const float* x, std::int64_t pixels, std::int64_t channels, const float* means,
                  bool squared, float* sums);
/// y = (x - means) * scales + bias
void scale_channels(const float* x, std::int64_t pixels, std::int64_t channels, const float* means,
                    const float* scales, const float* bias, float* y);

/// What a channel's gradients need.
struct NormChannels {
  const float* means;
  const float* inv_stds;
};
/// The sums over pixels of dy, and of dy times x's normalised value, are added to `sums` and
/// `products`.
void channel_gradient_sums(const float* dy, const float* x, std::int64_t pixels,
                           std::int64_t channels, const NormChannels& of, float* sums,
                           float* products);
/// dx = inv_stds * (dy * weight - constant - normalised * factor)
void channel_gradients(const float* dy, const float* x, std::int64_t pixels, std::int64_t channels,
                       const NormChannels& of, const float* weight, const float* constant,
                       const float* factor, float* dx);

}  // namespace linnet::cpu
