// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/conv2d.h"

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layers/window.h"
#include "ops/bias_add/bias_add.h"

namespace linnet {

void Conv2d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "conv2d");
  const Shape& x = builder.shape();
  require_images("conv2d", layer, x);
  require(
      filters > 0 && kernel.height > 0 && kernel.width > 0,
      "[conv2d '{}'] expected at least one filter and a kernel of at least 1; got {} filters of "
      "({}, {})",
      layer, filters, kernel.height, kernel.width);
  require(stride.height > 0 && stride.width > 0 && dilation.height > 0 && dilation.width > 0,
          "[conv2d '{}'] expected strides and dilations of at least 1; got ({}, {}) and ({}, {})",
          layer, stride.height, stride.width, dilation.height, dilation.width);
  const std::int64_t channels = x[3];
  require(groups > 0 && channels % groups == 0 && filters % groups == 0,
          "[conv2d '{}'] expected groups that divide {} channels and {} filters; got {}", layer,
          channels, filters, groups);
  const Sides sides = resolve(padding, x, kernel, stride, dilation);
  const std::int64_t area = kernel.height * kernel.width;
  const Value w =
      builder.weight(layer, "weight", {filters, kernel.height, kernel.width, channels / groups},
                     weight_init, channels / groups * area, filters * area);
  Value y = builder.graph().emit(Conv2dOp({.stride_h = stride.height,
                                           .stride_w = stride.width,
                                           .dilation_h = dilation.height,
                                           .dilation_w = dilation.width,
                                           .groups = groups,
                                           .pad_top = sides.top,
                                           .pad_bottom = sides.bottom,
                                           .pad_left = sides.left,
                                           .pad_right = sides.right}),
                                 {builder.current(), w}, layer);
  if (bias) {
    const Value b = builder.weight(layer, "bias", {filters}, bias_init, channels / groups * area,
                                   filters * area);
    y = builder.graph().emit(BiasAddOp(), {y, b}, layer);
  }
  builder.set_current(y);
}

}  // namespace linnet
