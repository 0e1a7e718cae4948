// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/layers.h>

#include <cstdint>
#include <string>
#include <utility>

namespace linnet::zoo {

// The named parts of residual and dense networks.

/// Of the input's size at stride 1, without a bias: a batch norm follows, or went before.
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
/// The last of a residual body: the block starts as its shortcut alone.
inline BatchNorm silent_norm(double epsilon, std::string name) {
  return {.epsilon = epsilon, .weight_init = kZeros, .name = std::move(name)};
}
inline ReLU relu(std::string name) { return {.name = std::move(name)}; }

}  // namespace linnet::zoo
