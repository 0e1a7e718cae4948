// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/activation/activation.h"

namespace linnet::cpu {

/// Computes dx = dy * f'(saved) of `rows` rows that follow each other; dx may lie over dy or
/// `saved`. Where `row` is not null, dy is a column, times it.
void write_slopes(Activation kind, const float* dy, const float* row, const float* saved,
                  std::int64_t rows, std::int64_t channels, float* dx);

}  // namespace linnet::cpu
