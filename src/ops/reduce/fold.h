// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

// What CPU and CUDA kernels of reductions compute with.
namespace linnet::fold {

struct Sum {
  static constexpr float kIdentity = 0;
  static constexpr float apply(float total, float x) { return total + x; }
};
// A NaN, once met, stays: it compares as neither greater nor smaller.
struct Max {
  static constexpr float kIdentity = -std::numeric_limits<float>::infinity();
  static constexpr float apply(float total, float x) {
    return ((x > total) | (x != x)) ? x : total;
  }
};
struct Min {
  static constexpr float kIdentity = std::numeric_limits<float>::infinity();
  static constexpr float apply(float total, float x) {
    return ((x < total) | (x != x)) ? x : total;
  }
};

/// Returns whether an element is the maximum or minimum `y` of its output; NaN is NaN.
constexpr bool attains(float x, float y) { return (x == y) | ((x != x) & (y != y)); }

}  // namespace linnet::fold
