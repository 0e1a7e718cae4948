// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/conv2d.h>

#include "base/check.h"
#include "nn/layer_fields.h"
#include "nn/layers/convolution.h"
#include "nn/layers/window.h"
#include "ops/bias_add/bias_add.h"

namespace linnet {

Conv2dAttrs conv_attributes(const Shape& x, Size2d kernel, const Conv2dOptions& options) {
  const Sides sides = resolve(options.padding, x, kernel, options.stride, options.dilation);
  return {.stride_h = options.stride.height,
          .stride_w = options.stride.width,
          .dilation_h = options.dilation.height,
          .dilation_w = options.dilation.width,
          .groups = options.groups,
          .pad_top = sides.top,
          .pad_bottom = sides.bottom,
          .pad_left = sides.left,
          .pad_right = sides.right};
}

void Conv2d::build(NetworkBuilder& builder) const {
  add_convolution(builder, "conv2d", builder.begin(*this), *this);
}

void add_convolution(NetworkBuilder& builder, std::string_view kind, const std::string& layer,
                     const Conv2d& conv) {
  const Shape x = builder.shape();  // weights move the builder's shapes
  require_images(kind, layer, x);
  const std::int64_t channels = x[3];
  require(channels % conv.groups == 0 && conv.filters % conv.groups == 0,
          "[{} '{}'] expected groups that divide {} channels and {} filters; got {}", kind, layer,
          channels, conv.filters, conv.groups);
  const std::int64_t area = conv.kernel.height * conv.kernel.width;
  const Value w =
      builder.weight(layer, "weight",
                     {conv.filters, conv.kernel.height, conv.kernel.width, channels / conv.groups},
                     conv.weight_init, channels / conv.groups * area, conv.filters * area);
  const Conv2dAttrs attrs =
      conv_attributes(x, conv.kernel, {conv.stride, conv.padding, conv.dilation, conv.groups});
  Value y = builder.graph().emit(Conv2dOp(attrs), {builder.current(), w}, layer);
  if (conv.bias) {
    const Value b = builder.weight(layer, "bias", {conv.filters}, conv.bias_init,
                                   channels / conv.groups * area, conv.filters * area);
    y = builder.graph().emit(BiasAddOp(), {y, b}, layer);
  }
  builder.set_current(y);
}

void register_conv2d(LayerTypes& types) {
  types.add({.kind = "conv2d",
             .name = "Conv2d",
             .in = "(N, H, W, C)",
             .out = "(N, H', W', filters)",
             .fields = {field<&Conv2d::filters>("filters").at_least(1).required(),
                        field<&Conv2d::kernel>("kernel").at_least(1),
                        field<&Conv2d::stride>("stride").at_least(1),
                        field<&Conv2d::padding>("padding").at_least(0),
                        field<&Conv2d::dilation>("dilation").at_least(1),
                        field<&Conv2d::groups>("groups").at_least(1), field<&Conv2d::bias>("bias"),
                        field<&Conv2d::weight_init>("weight_init"),
                        field<&Conv2d::bias_init>("bias_init")}},
            Conv2d{.filters = 16, .padding = Padding2d::same()});
}

}  // namespace linnet
