// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/activation/activation.h"

namespace linnet::cpu {

/// Computes y = f(x); y may be x.
void activation_values(Activation kind, const float* x, std::int64_t count, float* y);

/// Computes dx = dy f'(.) of ActivationGradOp's operands; dx may be either of them.
void activation_gradients(Activation kind, const float* dy, const float* saved, std::int64_t count,
                          float* dx);

}  // namespace linnet::cpu
