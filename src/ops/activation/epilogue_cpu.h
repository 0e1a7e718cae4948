// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/activation/formulas_cpu.h"

namespace linnet::cpu {

/// y = f(y + b) over a block of rows, in place: the tail of a matrix product while it is in cache.
/// b may be null. Rows are `columns` long and follow each other, or are `stride` floats apart.
inline void add_bias_and_activate(float* y, std::int64_t rows, std::int64_t columns, const float* b,
                                  Activation activation, std::int64_t stride = 0) {
  if (b == nullptr && activation == Activation::none) return;
  for (std::int64_t r = 0; r < rows; ++r) {
    float* row = y + r * (stride > 0 ? stride : columns);
    if (b != nullptr) {
      for (std::int64_t c = 0; c < columns; ++c) row[c] += b[c];
    }
    with_activation(activation, [&]<Activation kKind>() {
      if constexpr (kKind != Activation::none) {
        for (std::int64_t c = 0; c < columns; ++c) row[c] = activate<kKind>(row[c]);
      }
    });
  }
}

}  // namespace linnet::cpu
