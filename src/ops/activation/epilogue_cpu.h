// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "ops/activation/activation.h"

namespace linnet::cpu {

/// y = f(y + b) over a block of rows, in place: the tail of a matrix product while it is in cache.
/// b may be null. Rows are `columns` long and follow each other.
inline void add_bias_and_activate(float* y, std::int64_t rows, std::int64_t columns, const float* b,
                                  Activation activation) {
  for (std::int64_t r = 0; r < rows; ++r) {
    float* row = y + r * columns;
    if (b != nullptr) {
      for (std::int64_t c = 0; c < columns; ++c) row[c] += b[c];
    }
    switch (activation) {
      case Activation::none: break;
      case Activation::relu:
        for (std::int64_t c = 0; c < columns; ++c) row[c] = row[c] < 0 ? 0.0F : row[c];
        break;
      case Activation::tanh:
        for (std::int64_t c = 0; c < columns; ++c) row[c] = std::tanh(row[c]);
        break;
      case Activation::sigmoid:
        for (std::int64_t c = 0; c < columns; ++c) row[c] = 1 / (1 + std::exp(-row[c]));
        break;
      case Activation::gelu:
        for (std::int64_t c = 0; c < columns; ++c) {
          row[c] = 0.5F * row[c] * (1 + std::erf(row[c] * 0.70710678F));
        }
        break;
    }
  }
}

}  // namespace linnet::cpu
