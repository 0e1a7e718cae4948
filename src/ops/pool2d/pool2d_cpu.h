// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cpu/kernel.h"
#include "ops/pool2d/pool2d.h"

namespace linnet::cpu {

// Loops of the pooling operators in vectors of channels. Forward ones take rows of the output,
// counted over all samples (N * OH); gradients take rows of the images (N * H) and write all of
// them. No sum's order depends on how rows are split.

/// y and winner (N, OH, OW, C) from x (N, H, W, C).
void max_pool(const PoolShape& s, Range rows, const float* x, float* y, std::uint8_t* winner);
void max_pool(const PoolShape& s, Range rows, const float* x, float* y, std::int32_t* winner);

/// dx (N, H, W, C) from dy and winner (N, OH, OW, C).
void max_pool_grad(const PoolShape& s, Range rows, const float* dy, const std::uint8_t* winner,
                   float* dx);
void max_pool_grad(const PoolShape& s, Range rows, const float* dy, const std::int32_t* winner,
                   float* dx);

/// y: each window's sum times `factor`.
void average_pool(const PoolShape& s, Range rows, float factor, const float* x, float* y);

/// dx: over all windows that hold a pixel, the sum of their gradients times `factor`.
void average_pool_grad(const PoolShape& s, Range rows, float factor, const float* dy, float* dx);

}  // namespace linnet::cpu
