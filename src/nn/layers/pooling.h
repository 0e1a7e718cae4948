// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/layers/settings.h>

#include <string>
#include <string_view>

#include "base/check.h"
#include "nn/layers/window.h"
#include "ops/bin_mean2d/bin_mean2d.h"
#include "ops/pool2d/pool2d.h"

namespace linnet {

/// Returns a pool's attributes for images x (N, H, W, C).
inline Pool2dAttrs pool_attributes(const Shape& x, Size2d size, Size2d stride,
                                   const Padding2d& padding) {
  const Sides sides = resolve(padding, x, size, stride);
  return {.size_h = size.height,
          .size_w = size.width,
          .stride_h = stride.height,
          .stride_w = stride.width,
          .pad_top = sides.top,
          .pad_bottom = sides.bottom,
          .pad_left = sides.left,
          .pad_right = sides.right};
}

/// Does the same for a layer. Throws Error unless x is images; a stride of 0 is the size.
inline Pool2dAttrs layer_windows(std::string_view kind, const std::string& layer, const Shape& x,
                                 Size2d size, Size2d stride, const Padding2d& padding) {
  require_images(kind, layer, x);
  if (stride == Size2d(0)) stride = size;
  require(stride.height > 0 && stride.width > 0,
          "[{} '{}'] expected strides of at least 1; got ({}, {})", kind, layer, stride.height,
          stride.width);
  return pool_attributes(x, size, stride, padding);
}

/// Returns the bins of a layer's average pool that leaves padding out. Throws Error for a window
/// that does not fit the padded images x (N, H, W, C).
BinMean2dAttrs bins_inside(std::string_view kind, const std::string& layer, const Shape& x,
                           const Pool2dAttrs& windows);

}  // namespace linnet
