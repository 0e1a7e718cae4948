// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/layers/activations.h>
#include <linnet/layers/conv2d.h>
#include <linnet/layers/dense.h>
#include <linnet/layers/dropout.h>
#include <linnet/layers/rescale.h>
#include <linnet/layers/reshape.h>
#include <linnet/network.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace linnet::testing {

/// Returns a network whose steps draw numbers.
inline Network with_dropout() {
  return Network({8, 8, 1},
                 {Rescale{}, Conv2d{.filters = 6, .kernel = 3}, ReLU{}, Dropout{0.3}, Flatten{},
                  Dense{.units = 11}, Tanh{}, Dropout{0.5}, Dense{.units = 5}});
}

/// Returns images for it, with labels; others for another salt.
inline Dataset pixels(std::int64_t count, std::uint32_t salt = 0) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count) * 64);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>((i + salt) * 2654435761U >> 13);
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<std::int32_t>((i * 7 + i / 3) % 5);
  }
  return Dataset({{"x", Tensor(std::move(bytes), {count, 8, 8, 1})}},
                 {{"y", Tensor(std::move(labels))}});
}

}  // namespace linnet::testing
