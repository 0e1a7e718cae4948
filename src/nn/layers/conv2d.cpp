// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/conv2d.h"

#include "base/check.h"
#include "nn/layers/convolution.h"
#include "nn/layers/window.h"
#include "ops/bias_add/bias_add.h"

namespace linnet {

void Conv2d::build(NetworkBuilder& builder) const {
  add_convolution(builder, "conv2d", builder.layer_name(name, "conv2d"), *this);
}

void add_convolution(NetworkBuilder& builder, std::string_view kind, const std::string& layer,
                     const Conv2d& conv) {
  const Shape& x = builder.shape();
  require_images(kind, layer, x);
  require(conv.filters > 0 && conv.kernel.height > 0 && conv.kernel.width > 0,
          "[{} '{}'] expected at least one filter and a kernel of at least 1; got {} filters of "
          "({}, {})",
          kind, layer, conv.filters, conv.kernel.height, conv.kernel.width);
  require(conv.stride.height > 0 && conv.stride.width > 0 && conv.dilation.height > 0 &&
              conv.dilation.width > 0,
          "[{} '{}'] expected strides and dilations of at least 1; got ({}, {}) and ({}, {})", kind,
          layer, conv.stride.height, conv.stride.width, conv.dilation.height, conv.dilation.width);
  const std::int64_t channels = x[3];
  require(conv.groups > 0 && channels % conv.groups == 0 && conv.filters % conv.groups == 0,
          "[{} '{}'] expected groups that divide {} channels and {} filters; got {}", kind, layer,
          channels, conv.filters, conv.groups);
  const Sides sides = resolve(conv.padding, x, conv.kernel, conv.stride, conv.dilation);
  const std::int64_t area = conv.kernel.height * conv.kernel.width;
  const Value w =
      builder.weight(layer, "weight",
                     {conv.filters, conv.kernel.height, conv.kernel.width, channels / conv.groups},
                     conv.weight_init, channels / conv.groups * area, conv.filters * area);
  Value y = builder.graph().emit(Conv2dOp({.stride_h = conv.stride.height,
                                           .stride_w = conv.stride.width,
                                           .dilation_h = conv.dilation.height,
                                           .dilation_w = conv.dilation.width,
                                           .groups = conv.groups,
                                           .pad_top = sides.top,
                                           .pad_bottom = sides.bottom,
                                           .pad_left = sides.left,
                                           .pad_right = sides.right}),
                                 {builder.current(), w}, layer);
  if (conv.bias) {
    const Value b = builder.weight(layer, "bias", {conv.filters}, conv.bias_init,
                                   channels / conv.groups * area, conv.filters * area);
    y = builder.graph().emit(BiasAddOp(), {y, b}, layer);
  }
  builder.set_current(y);
}

}  // namespace linnet
