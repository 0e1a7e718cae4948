// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/layers.h>

#include <cstdint>
#include <string>
#include <utility>

namespace linnet::zoo {

// The named parts of residual and dense networks.

/// Returns a convolution that keeps the size at stride 1, without bias, for a batch norm.
inline Conv2d conv(std::int64_t filters, std::int64_t kernel, std::int64_t stride,
                   std::string name) {
  return {.filters = filters,
          .kernel = kernel,
          .stride = stride,
          .padding = Padding2d::all(kernel / 2),
          .bias = false,
          .weight_init = {Initializer::Kind::he_normal},
          .name = std::move(name)};
}

inline BatchNorm norm(double epsilon, std::string name) {
  return {.epsilon = epsilon, .name = std::move(name)};
}
/// Returns the last of a residual body: the block starts as its shortcut alone.
inline BatchNorm silent_norm(double epsilon, std::string name) {
  return {.epsilon = epsilon, .weight_init = kZeros, .name = std::move(name)};
}
/// Initial weights of the dense layers at the end: normal, with a small standard deviation.
inline constexpr Initializer kSmallDense{Initializer::Kind::normal, 0.01};

inline ReLU relu(std::string name) { return {.name = std::move(name)}; }

}  // namespace linnet::zoo
