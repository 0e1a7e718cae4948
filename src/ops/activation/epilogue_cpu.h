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

/// What follows the sums of a row; what is null is left out. A residual's rows lie as y's.
struct RowTail {
  const float* scale = nullptr;
  const float* bias = nullptr;
  const void* residual = nullptr;
  bool residual_is_bf16 = false;
  Activation activation = Activation::none;
};
/// Computes y = f(scale sum + bias + residual), rounded to bfloat16, of a block of sums, which it
/// may overwrite; rows of y lie `stride` apart.
void finish_in_bf16(float* sums, std::int64_t rows, std::int64_t columns, const RowTail& tail,
                    std::uint16_t* y, std::int64_t stride);

}  // namespace linnet::cpu
