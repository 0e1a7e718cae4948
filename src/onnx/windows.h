// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "onnx/images.h"

namespace linnet::onnx {

/// A window's settings along rows and columns, as the attributes of a convolution or a pooling.
struct Window {
  Pair kernel{1, 1};
  Pair stride{1, 1};
  Pair dilation{1, 1};
  Pair before{};
  Pair after{};
  std::int64_t span(std::size_t i) const { return (kernel[i] - 1) * dilation[i] + 1; }
  Padding2d padding() const {
    return {Padding2d::Mode::fixed, before[0], after[0], before[1], after[1]};
  }
  Size2d size() const { return {kernel[0], kernel[1]}; }
};

/// Returns an attribute of a number for each axis, along rows and columns. Throws DataError below
/// `least`.
Pair pair_of(NodeImport& n, std::string_view name, std::int64_t least, const Axes2& axes,
             Pair otherwise);

/// Returns a node's window on images of this size; `kernel`: where the node does not say it.
Window window_of(NodeImport& n, const Pair& size, const Axes2& axes, Pair kernel);

}  // namespace linnet::onnx
