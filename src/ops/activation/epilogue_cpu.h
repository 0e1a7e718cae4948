// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/activation/activation.h"

namespace linnet::cpu {

/// Computes y = f(y + b + residual) over a block of rows, in place: the tail of a matrix product
/// while it is in cache. b and residual may be null; the residual's rows lie as y's. Rows are
/// `columns` long and follow each other, or are `stride` floats apart.
void add_bias_and_activate(float* y, std::int64_t rows, std::int64_t columns, const float* b,
                           Activation activation, std::int64_t stride = 0,
                           const float* residual = nullptr);

}  // namespace linnet::cpu
