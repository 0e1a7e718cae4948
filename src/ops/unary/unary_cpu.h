// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/unary/unary.h"

namespace linnet::cpu {

/// Computes y = f(x); y may be x.
void unary_values(const UnaryAttrs& attrs, const float* x, std::int64_t count, float* y);

/// Computes dx = dy f'(x) from x, or from f(x) where slope_from_output(); dx may be either operand.
void unary_gradients(const UnaryAttrs& attrs, const float* dy, const float* saved,
                     std::int64_t count, float* dx);

}  // namespace linnet::cpu
